// Two ways to use the page, with the same moves: a mouse, and a keyboard alone.

import { assert } from "./report.mjs";

/** @typedef {import("playwright-core").Page} Page */
/** @typedef {import("playwright-core").Locator} Locator */

/** The longest way by Tab. */
const MAX_TABS = 150;

/** The longest way by arrow keys in a list or a tree. */
const MAX_ROWS = 80;

/**
 * A row of the tree by its name.
 * @param {Page} page
 * @param {string} name
 */
export function treeRow(page, name) {
  return page.locator(".tree [role=treeitem]", { has: page.locator(`.row-name:text-is(${JSON.stringify(name)})`) });
}

/**
 * A row of the list by its name.
 * @param {Page} page
 * @param {string} name
 */
export function listRow(page, name) {
  return page.locator(".list-row", { has: page.locator(`.row-name:text-is(${JSON.stringify(name)})`) });
}

export class Mouse {
  name = "by mouse";

  /** @param {Page} page */
  constructor(page) {
    this.page = page;
  }

  /** Presses a button, a link or a tab. @param {Locator} target */
  async press(target) {
    await target.click();
  }

  /** Replaces what an input holds. @param {Locator} target @param {string} text */
  async type(target, text) {
    await target.click({ clickCount: 3 });
    if (text === "") await this.page.keyboard.press("Delete");
    else await this.page.keyboard.type(text);
  }

  /** @param {Locator} target @param {string} label */
  async choose(target, label) {
    await target.selectOption({ label });
  }

  /** Ends typing, so that the input reports its change. */
  async leave() {
    await this.page.locator("h1").first().click();
  }

  /** Opens a folder of the tree, or closes it. @param {string} name */
  async toggleFolder(name) {
    await treeRow(this.page, name).locator(".twisty").click();
  }

  /** Shows a resource of the tree. @param {string} name */
  async showInTree(name) {
    await treeRow(this.page, name).locator(".row-name").click();
  }

  /** Shows a resource of the list. @param {string} name */
  async showInList(name) {
    await listRow(this.page, name).locator(".row-name").click();
  }

  /** Puts a resource of the list into the basket. @param {string} name */
  async pick(name) {
    await listRow(this.page, name).getByRole("button").click();
  }

  async startSearch() {
    await this.page.getByRole("searchbox", { name: "Search", exact: true }).click();
  }

  async openFirstHit() {
    await this.page.locator(".hit").first().click();
  }

  async showBasket() {
    await this.page.getByRole("link", { name: "Basket" }).click();
  }

  async nextPage() {
    await this.page.getByRole("button", { name: "Next" }).click();
  }
}

export class Keyboard {
  name = "by keyboard";

  /** @param {Page} page */
  constructor(page) {
    this.page = page;
  }

  /** Goes to an element by Tab. @param {Locator} target */
  async reach(target) {
    await target.waitFor({ state: "visible" });
    for (let presses = 0; presses <= MAX_TABS; presses += 1) {
      if (await target.evaluate((element) => element === document.activeElement)) return;
      await this.page.keyboard.press("Tab");
    }
    throw new Error(`${MAX_TABS} presses of Tab do not reach ${target}`);
  }

  /** @param {Locator} target */
  async press(target) {
    await this.reach(target);
    await this.page.keyboard.press("Enter");
  }

  /** @param {Locator} target @param {string} text */
  async type(target, text) {
    await this.reach(target);
    await this.page.keyboard.press("Control+a");
    if (text === "") await this.page.keyboard.press("Delete");
    else await this.page.keyboard.type(text);
  }

  /** @param {Locator} target @param {string} label */
  async choose(target, label) {
    await this.reach(target);
    await this.page.keyboard.press("Home");
    for (let presses = 0; presses <= MAX_ROWS; presses += 1) {
      if ((await target.evaluate((select) => /** @type {HTMLSelectElement} */ (select).selectedOptions[0]?.label)) === label) return;
      await this.page.keyboard.press("ArrowDown");
    }
    throw new Error(`${target} has no ${label}`);
  }

  async leave() {
    await this.page.keyboard.press("Tab");
  }

  /**
   * Goes to a row by arrow keys, from the first one.
   * @param {Locator} row
   */
  async #arrowTo(row) {
    await this.page.keyboard.press("Home");
    for (let presses = 0; presses <= MAX_ROWS; presses += 1) {
      if ((await row.count()) > 0 && (await row.first().evaluate((element) => element === document.activeElement))) return;
      await this.page.keyboard.press("ArrowDown");
    }
    throw new Error(`${MAX_ROWS} presses of ArrowDown do not reach ${row}`);
  }

  /** Presses a key of the page, out of an input where it would be text. @param {string} key */
  async #command(key) {
    for (let presses = 0; presses < 3; presses += 1) {
      if (!(await this.page.evaluate(() => document.activeElement?.matches("input, textarea, select")))) break;
      // The first one empties the search, the next one leaves it.
      await this.page.keyboard.press("Escape");
    }
    await this.page.keyboard.press(key);
  }

  /** @param {string} name */
  async #goToTreeRow(name) {
    await treeRow(this.page, name).waitFor();
    if (await this.page.evaluate(() => !document.activeElement?.closest(".tree"))) {
      await this.#command("2");
    }
    const isThere = await this.page.evaluate(() => Boolean(document.activeElement?.closest(".tree")));
    assert(isThere, "2 does not lead to the tree");
    await this.#arrowTo(treeRow(this.page, name));
  }

  /** @param {string} name */
  async #goToListRow(name) {
    await listRow(this.page, name).waitFor();
    if (await this.page.evaluate(() => !document.activeElement?.closest(".list-row"))) await this.#command("3");
    const isThere = await this.page.evaluate(() => Boolean(document.activeElement?.closest(".list-row")));
    assert(isThere, "3 does not lead to the list");
    await this.#arrowTo(listRow(this.page, name));
  }

  /** @param {string} name */
  async toggleFolder(name) {
    await this.#goToTreeRow(name);
    const isOpen = (await treeRow(this.page, name).getAttribute("aria-expanded")) === "true";
    await this.page.keyboard.press(isOpen ? "ArrowLeft" : "ArrowRight");
  }

  /** @param {string} name */
  async showInTree(name) {
    await this.#goToTreeRow(name);
    await this.page.keyboard.press("Enter");
  }

  /** @param {string} name */
  async showInList(name) {
    await this.#goToListRow(name);
    await this.page.keyboard.press("Enter");
  }

  /** @param {string} name */
  async pick(name) {
    await this.#goToListRow(name);
    await this.page.keyboard.press("Space");
  }

  async startSearch() {
    await this.#command("/");
  }

  async openFirstHit() {
    await this.page.keyboard.press("ArrowDown");
    await this.page.keyboard.press("Enter");
  }

  async showBasket() {
    await this.#command("4");
  }

  async nextPage() {
    await this.reach(this.page.getByRole("region", { name: "Content of the resource" }));
    await this.page.keyboard.press("ArrowRight");
  }
}
