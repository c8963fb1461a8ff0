// Change notifications in the TypeScript clients: two clients, shared by both SDK generations.

import { openSync, closeSync, renameSync, writeFileSync, writeSync } from "node:fs";
import { dirname, join } from "node:path";

import { ERRAND, attempt } from "./errand.mjs";

const PATIENCE = 20_000;
const LISTS = "lists";

/** Records the notifications of one client, in order. Subclasses subscribe in the modern era's way. */
export class Ear {
  heard = [];
  #more = () => {};

  constructor(client) {
    this.client = client;
    client.fallbackNotificationHandler = async ({ method, params }) => {
      this.heard.push({ "notifications/resources/list_changed": LISTS }[method] ?? params?.uri ?? method);
      this.#more();
    };
  }

  subscribe(uri) {
    return this.client.subscribeResource({ uri });
  }

  unsubscribe(uri) {
    return this.client.unsubscribeResource({ uri });
  }

  /** A session receives list changes without a subscription. */
  async attendToLists() {}

  until(notice) {
    const { promise, resolve, reject } = Promise.withResolvers();
    const late = () => reject(new Error(`no notification ${notice} within ${PATIENCE} ms; received ${this.heard}`));
    const bound = setTimeout(late, PATIENCE);
    this.#more = () => {
      if (!this.heard.includes(notice)) return;
      clearTimeout(bound);
      resolve();
    };
    this.#more();
    return promise;
  }

  taken() {
    return this.heard.splice(0);
  }
}

/** The served folder. Each change is one system call, so that it cannot appear as two changes. */
class Folder {
  #times = 0;

  constructor(path) {
    this.path = path;
  }

  change(name) {
    const file = openSync(join(this.path, name), "r+");
    writeSync(file, this.#words());
    closeSync(file);
  }

  create(name) {
    const draft = join(dirname(this.path), `${name}.draft`);
    writeFileSync(draft, this.#words());
    renameSync(draft, join(this.path, name));
  }

  #words() {
    this.#times += 1;
    return `version ${this.#times}\n`;
  }
}

export async function reportHeard(a, b) {
  const { folder: path, one, other } = ERRAND.watch;
  const folder = new Folder(path);

  async function apart() {
    for (const ear of [a, b]) await ear.attendToLists();
    await a.subscribe(one.uri);
    await b.subscribe(other.uri);
    folder.change(one.name);
    await a.until(one.uri);
    folder.change(other.name);
    await b.until(other.uri);
    return bothHearOf("apart.txt");
  }

  async function ended() {
    await b.subscribe(one.uri);
    await a.unsubscribe(one.uri);
    folder.change(one.name);
    // Wait for the client that is still subscribed; then make a change that both receive.
    await b.until(one.uri);
    return bothHearOf("ended.txt");
  }

  async function bothHearOf(name) {
    folder.create(name);
    for (const ear of [a, b]) await ear.until(LISTS);
    return [a.taken(), b.taken()];
  }

  const outcome = { apart: await attempt(apart), ended: await attempt(ended) };
  for (const ear of [a, b]) await ear.client.close();
  console.log(JSON.stringify(outcome));
}
