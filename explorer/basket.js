// The basket: resources that a person picked, kept by the browser for each server.

import { Emitter } from "./emitter.js";
import { lastSegment } from "./format.js";
import { read, write } from "./settings.js";

/** @typedef {{ uri: string, name: string, tokens?: number, size?: number }} BasketItem */

const MAX_ITEMS = 200;

/** Emits `change`. */
export class Basket extends Emitter {
  /** @type {BasketItem[]} */
  items = [];

  /** @param {string} address */
  constructor(address) {
    super();
    this.key = `refdesk.basket ${address}`;
    const kept = read(localStorage, this.key, []);
    const isItem = (/** @type {any} */ item) => typeof item?.uri === "string" && typeof item?.name === "string";
    if (Array.isArray(kept)) this.items = kept.filter(isItem).slice(0, MAX_ITEMS);
  }

  /** @param {string} uri */
  has(uri) {
    return this.items.some((item) => item.uri === uri);
  }

  /** @param {{ uri: string, name?: string, size?: number }} item */
  add({ uri, name, size }) {
    if (this.has(uri) || this.items.length >= MAX_ITEMS) return;
    this.items = [...this.items, { uri, name: name || lastSegment(uri), size }];
    this.#save();
  }

  /** @param {string} uri */
  remove(uri) {
    this.items = this.items.filter((item) => item.uri !== uri);
    this.#save();
  }

  /** @param {{ uri: string, name?: string, size?: number }} item */
  toggle(item) {
    if (this.has(item.uri)) this.remove(item.uri);
    else this.add(item);
  }

  clear() {
    this.items = [];
    this.#save();
  }

  /**
   * Notes the tokens of what it holds.
   * @param {Map<string, number>} tokens
   */
  setTokens(tokens) {
    this.items = this.items.map((item) => ({ ...item, tokens: tokens.get(item.uri) ?? item.tokens }));
    this.#save();
  }

  /** The tokens of all that is known. */
  get total() {
    return this.items.reduce((sum, item) => sum + (item.tokens ?? 0), 0);
  }

  #save() {
    write(localStorage, this.key, this.items);
    this.emit("change");
  }
}
