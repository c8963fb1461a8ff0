// A list of listeners by event name.

/** @typedef {(detail: any) => void} Listener */

export class Emitter {
  /** @type {Map<string, Set<Listener>>} */
  #listeners = new Map();

  /**
   * Adds a listener; the answer removes it.
   * @param {string} type
   * @param {Listener} listener
   * @returns {() => void}
   */
  on(type, listener) {
    const listeners = this.#listeners.get(type) ?? new Set();
    this.#listeners.set(type, listeners.add(listener));
    return () => void listeners.delete(listener);
  }

  /**
   * @param {string} type
   * @param {any} [detail]
   */
  emit(type, detail) {
    for (const listener of [...(this.#listeners.get(type) ?? [])]) listener(detail);
  }
}
