// Hostile resources, names, tools and questions: nothing of them runs, and nothing leaves the page's origin.

import { openPage } from "./browser.mjs";
import { upstreamSettings } from "./handbook.mjs";
import { writeHostile } from "./hostile_files.mjs";
import { python, servers } from "./modules.mjs";
import { Refdesk } from "./refdesk.mjs";
import { assert, assertEqual, until } from "./report.mjs";

/** @typedef {import("playwright-core").Page} Page */

/** Rows of text that one preview may put into the page, however long its resource is. */
const MAX_CHARACTERS = 3_000_000;
const MAX_ELEMENTS = 60_000;

/** @param {import("./main.mjs").Suite} suite */
export async function checkHostile({ program, folder, browser, report }) {
  const hostile = writeHostile(folder);
  const settings = `[mounts.hostile]\nkind = "fs"\npath = ${JSON.stringify(hostile.folder)}\n${upstreamSettings("words", [python, "-B", `${servers}/hostile_words.py`])}`;
  const desk = await new Refdesk(program, `${folder}/desk`, settings).start();
  const { context, page, watched } = await openPage(browser, desk.origin);
  const check = (/** @type {string} */ name, /** @type {() => Promise<unknown>} */ run) => report.check(`page, hostile: ${name}`, run, page);

  await check("the canary, the guard of requests and the guard of dialogs see what happens", async () => {
    await page.goto(desk.page());
    await page.evaluate(async () => {
      globalThis.canary("control");
      await fetch("http://evil.example/control").catch(() => {});
      globalThis.alert("control");
    });
    assertEqual([watched.ran, watched.reached, watched.dialogs], [["control"], ["http://evil.example/control"], ["control"]]);
    for (const list of Object.values(watched)) list.length = 0;
  });

  /** Fails if anything ran or reached out since the last look. */
  const nothingHappened = async () => {
    const { ran, reached, dialogs } = watched;
    const seen = { ran: [...ran], reached: [...reached], dialogs: [...dialogs] };
    for (const list of [ran, reached, dialogs]) list.length = 0;
    assertEqual(seen, { ran: [], reached: [], dialogs: [] });
    assertEqual(page.context().pages().length, 1, "pages that were opened");
  };

  await check("names with markup, overrides and escapes are text in the list and in the tree", async () => {
    await page.goto(desk.page("#/file:///hostile/"));
    await page.locator(".list-row", { hasText: "<img src=x onerror=canary('name')>.txt" }).waitFor();
    const names = await page.locator(".row-name, .crumbs li").allInnerTexts();
    assert(names.length > 20, names);
    const odd = names.filter((name) => /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/.test(name));
    assertEqual(odd, [], "names that change how a line is shown");
    await nothingHappened();
  });

  for (const uri of await uris(page)) {
    await check(`every preview of ${JSON.stringify(decodeURIComponent(uri).slice(0, 60))} is safe`, async () => {
      const formats = await lookThrough(page, desk, uri);
      await nothingHappened();
      return formats;
    });
  }

  for (const uri of ["words+words://one", "words+words://two"]) {
    await check(`every preview of ${uri}, of a hostile server, is safe`, async () => {
      const formats = await lookThrough(page, desk, uri);
      await nothingHappened();
      return formats;
    });
  }

  await check("tools, their descriptions and results are text", async () => {
    await page.goto(desk.page("#tools/words_shout"));
    await page.locator(".description", { hasText: "<script>canary('tool-description')</script>" }).waitFor();
    await page.getByRole("button", { name: "Run" }).click();
    await page.locator(".result", { hasText: "<script>canary('tool-result')</script>" }).waitFor();
    await nothingHappened();
  });

  await check("a question and its fields are text", async () => {
    await page.goto(desk.page("#tools/words_ask"));
    await page.getByRole("button", { name: "Run" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.locator(".question", { hasText: "<script>canary('question')</script>" }).waitFor();
    await dialog.locator("label", { hasText: "<script>canary('field-title')</script>" }).waitFor();
    await dialog.getByRole("button", { name: "Decline" }).click();
    await page.locator(".result", { hasText: "answer" }).waitFor();
    await nothingHappened();
  });

  await check("prompts are text", async () => {
    await page.goto(desk.page("#prompts/words_say"));
    await page.getByRole("button", { name: "Get the prompt" }).click();
    await page.locator(".message", { hasText: "<script>canary('prompt')</script>" }).waitFor();
    await nothingHappened();
  });

  await check("what a search finds in them is text", async () => {
    await page.goto(desk.page("#search?q=harmless"));
    await page.locator(".hit").first().waitFor();
    await nothingHappened();
  });

  await check("addresses with markup and scripts show nothing but text", async () => {
    for (const hash of ["#/javascript:canary('address')", "#/data:text/html,<script>canary(1)</script>", "#tools/<img src=x onerror=canary('address')>", "#search?q=<img src=x onerror=canary('query')>", "#/http://evil.example/page", "#/refdesk://mounts/../../x:999999999"]) {
      await page.goto(desk.page(hash));
      await page.reload();
      await page.locator("main > *").first().waitFor();
      await settled(page);
    }
    await nothingHappened();
  });

  await check("no script of the page failed", async () => {
    const errors = watched.errors.filter((error) => !/net::ERR_|status of 40[45]/.test(error));
    assertEqual(errors, []);
    return `${watched.blocked.length} attempts that the policy of the page blocked`;
  });
  await context.close();
  await desk.stop();
}

/** The resources in the list. @param {Page} page @returns {Promise<string[]>} */
async function uris(page) {
  return page.evaluate(() => globalThis.refdesk.folders.folder("file:///hostile/").items.map((/** @type {any} */ item) => item.uri));
}

/** Waits until the preview has stopped loading. @param {Page} page */
async function settled(page) {
  const shown = () => page.locator("main").innerText();
  await until(shown, (text) => !/^(Loading…|Searching…)$/m.test(text));
}

/**
 * Opens a resource in each of its formats, looks for what could run, and presses what can be pressed.
 * @param {Page} page
 * @param {Refdesk} desk
 * @param {string} uri
 */
async function lookThrough(page, desk, uri) {
  await page.goto(desk.page(`#/${uri}`));
  const tabs = page.locator(".preview-bar .tab");
  await until(() => tabs.count(), (count) => count > 0);
  const names = await tabs.allInnerTexts();
  for (let at = 0; at < names.length; at += 1) {
    await tabs.nth(at).click();
    await settled(page);
    for (const frame of page.frames()) assertEqual(await frame.evaluate(dangers), [], `${names[at]}: elements that could run or reach out`);
    for (const frame of page.frames()) await pressLinks(frame);
    const size = await page.evaluate(() => [document.body.textContent?.length ?? 0, document.querySelectorAll("*").length]);
    assert(size[0] < MAX_CHARACTERS && size[1] < MAX_ELEMENTS, `${names[at]}: ${size[0]} characters and ${size[1]} elements in the page`);
    if (!page.url().startsWith(desk.page("#/"))) throw new Error(`the page went to ${page.url()}`);
    await page.goto(desk.page(`#/${uri}`));
    await until(() => tabs.count(), (count) => count === names.length);
  }
  return names.join(", ");
}

/** Presses what is called "press", if it can be. @param {import("playwright-core").Frame} frame */
async function pressLinks(frame) {
  // A link to a web page is one that a person may follow.
  const links = frame.locator("a:not([href^='http://evil.example']), button, .dead-link").filter({ hasText: /^press$/ });
  for (let at = 0; at < Math.min(await links.count(), 6); at += 1) await links.nth(at).click({ force: true, timeout: 2000 }).catch(() => {});
}

/** What could run or reach out in a document. */
function dangers() {
  const found = [];
  const isFrame = globalThis.self !== globalThis.top;
  for (const element of document.querySelectorAll(isFrame ? "*" : "main *, dialog *")) {
    if (/^(script|object|embed|base|meta|link|form|video|audio|style|foreignobject)$/i.test(element.localName)) {
      const isOurs = isFrame ? element.closest("head") : element.localName === "form" && !element.hasAttribute("action");
      if (!isOurs) found.push(element.outerHTML.slice(0, 120));
    }
    for (const { name, value } of element.attributes) {
      const isAddress = ["href", "src", "action", "formaction", "xlink:href", "srcset", "poster"].includes(name);
      const isBad = /^\s*(javascript|vbscript):/i.test(value) || (name !== "href" && /^(https?:)?\/\//i.test(value)) || (/^\s*data:/i.test(value) && !/^data:image\//i.test(value));
      if (name.startsWith("on") || (isAddress && isBad)) found.push(`${name}=${value.slice(0, 100)}`);
    }
  }
  return found.slice(0, 10);
}
