// Change notifications in the TypeScript clients: two clients, shared by both SDK generations.

import { openSync, closeSync, renameSync, writeFileSync, writeSync } from "node:fs";
import { dirname, join } from "node:path";

import { REQUESTS, attempt } from "./client_requests.mjs";

const TIMEOUT = 20_000;
export const LIST_CHANGED = "list_changed";

/** Records the notifications of one client, in order. Subclasses subscribe in the modern era's way. */
export class NotificationRecorder {
  received = [];
  #onReceived = () => {};

  constructor(client) {
    this.client = client;
    client.fallbackNotificationHandler = async ({ method, params }) => {
      this.received.push({ "notifications/resources/list_changed": LIST_CHANGED }[method] ?? params?.uri ?? method);
      this.#onReceived();
    };
  }

  subscribe(uri) {
    return this.client.subscribeResource({ uri });
  }

  unsubscribe(uri) {
    return this.client.unsubscribeResource({ uri });
  }

  /** A session receives list changes without a subscription. */
  async subscribeToLists() {}

  waitFor(notification) {
    const { promise, resolve, reject } = Promise.withResolvers();
    const message = () => `no notification ${notification} within ${TIMEOUT} ms; received ${this.received}`;
    const timer = setTimeout(() => reject(new Error(message())), TIMEOUT);
    this.#onReceived = () => {
      if (!this.received.includes(notification)) return;
      clearTimeout(timer);
      resolve();
    };
    this.#onReceived();
    return promise;
  }

  drain() {
    return this.received.splice(0);
  }
}

/** The served folder. Each change is one system call, so that it cannot appear as two changes. */
class Folder {
  #version = 0;

  constructor(path) {
    this.path = path;
  }

  change(name) {
    const file = openSync(join(this.path, name), "r+");
    writeSync(file, this.#nextContent());
    closeSync(file);
  }

  create(name) {
    const draft = join(dirname(this.path), `${name}.draft`);
    writeFileSync(draft, this.#nextContent());
    renameSync(draft, join(this.path, name));
  }

  #nextContent() {
    this.#version += 1;
    return `version ${this.#version}\n`;
  }
}

/** Changes files while two clients are subscribed, and prints the notifications of both. */
export async function reportNotifications(first, second) {
  const { folder: path, first_file: firstFile, second_file: secondFile } = REQUESTS.watch;
  const folder = new Folder(path);

  /** Each client is subscribed to its own file. */
  async function separate() {
    for (const recorder of [first, second]) await recorder.subscribeToLists();
    await first.subscribe(firstFile.uri);
    await second.subscribe(secondFile.uri);
    folder.change(firstFile.name);
    await first.waitFor(firstFile.uri);
    folder.change(secondFile.name);
    await second.waitFor(secondFile.uri);
    return notificationsUntilCreated("separate.txt");
  }

  /** The first client is no longer subscribed to its file, but the second client is. */
  async function unsubscribed() {
    await second.subscribe(firstFile.uri);
    await first.unsubscribe(firstFile.uri);
    folder.change(firstFile.name);
    // Wait for the client that is still subscribed; then make a change that both receive.
    await second.waitFor(firstFile.uri);
    return notificationsUntilCreated("unsubscribed.txt");
  }

  /** Creates a file, waits until both clients are notified of it, and returns what each has received. */
  async function notificationsUntilCreated(name) {
    folder.create(name);
    for (const recorder of [first, second]) await recorder.waitFor(LIST_CHANGED);
    return [first.drain(), second.drain()];
  }

  const outcome = { separate: await attempt(separate), unsubscribed: await attempt(unsubscribed) };
  for (const recorder of [first, second]) await recorder.client.close();
  console.log(JSON.stringify(outcome));
}
