// What does a TypeScript visitor hear of changes? Two clients, the same for both generations of the SDK.

import { openSync, closeSync, renameSync, writeFileSync, writeSync } from "node:fs";
import { dirname, join } from "node:path";

import { ERRAND, attempt } from "./errand.mjs";

const PATIENCE = 20_000;
const LISTS = "lists";

/** What one client has heard, in the order it came. A client of another era says how else it asks. */
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

  /** A session hears of lists unasked. */
  async attendToLists() {}

  until(notice) {
    const { promise, resolve, reject } = Promise.withResolvers();
    const late = () => reject(new Error(`${notice} was not heard within ${PATIENCE} ms, but ${this.heard}`));
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

/** The served folder. Each change is one call to the system, so that it cannot be told in two halves. */
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
    // It was told to those who still want to know; then comes what both do.
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
