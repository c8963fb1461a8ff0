// A folder with 100,000 files: first rows, scrolling, rows in the document, memory; beside the Inspector's page.

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openPage } from "./browser.mjs";
import { measureInspector } from "./inspector.mjs";
import { Refdesk } from "./refdesk.mjs";
import { assert, assertEqual, until } from "./report.mjs";

/** @typedef {import("playwright-core").Page} Page */

const FILES = 100_000;

/** Rows that a list may have in the document, whatever it holds. */
const MAX_ROWS = 120;

/** What the scripts of the page may hold, in bytes, after a collection of garbage. */
const MAX_HEAP = 150_000_000;

/** How long loading all rows may take: a bound against hanging. */
const LOAD_LIMIT = 110_000;

/** @param {import("./main.mjs").Suite} suite */
export async function checkCrowd({ program, folder, browser, report }) {
  const crowd = join(folder, "crowd");
  mkdirSync(crowd, { recursive: true });
  for (let at = 0; at < FILES; at += 1) writeFileSync(join(crowd, name(at)), "");
  const settings = `[mounts.crowd]\nkind = "fs"\npath = ${JSON.stringify(crowd)}\nindex = false\n`;
  const desk = await new Refdesk(program, `${folder}/desk`, settings).start();
  const { context, page } = await openPage(browser, desk.origin);
  const check = (/** @type {string} */ what, /** @type {() => Promise<unknown>} */ run) => report.check(`page, 100,000 entries: ${what}`, run, page);
  const rows = (/** @type {string} */ kind) => page.locator(kind).count();
  const isComplete = () => page.evaluate(() => globalThis.refdesk.folders.folder("file:///crowd/").isComplete);

  await check("the first rows of the list", async () => {
    await page.goto(desk.page());
    await page.locator(".card h3", { hasText: "crowd" }).waitFor();
    const started = Date.now();
    await page.locator(".card h3 a").click();
    await page.locator(".list-row", { hasText: name(0) }).waitFor();
    return `${Date.now() - started} ms`;
  });

  await check("all rows are loaded, and few are in the document", async () => {
    const started = Date.now();
    await until(isComplete, Boolean, LOAD_LIMIT);
    const took = Date.now() - started;
    await page.getByText("100,000 resources").waitFor();
    const count = await rows(".list-row");
    assert(count > 10 && count <= MAX_ROWS, `${count} rows`);
    return `${took} ms, ${count} rows`;
  });

  await check("the list scrolls to its end", async () => {
    const frames = await page.locator(".rows").evaluate(scrollThrough);
    await page.locator(".list-row", { hasText: name(FILES - 1) }).waitFor();
    const count = await rows(".list-row");
    assert(count <= MAX_ROWS, `${count} rows`);
    return `frames of ${frames}, ${count} rows`;
  });

  await check("the list sorts and filters", async () => {
    const started = Date.now();
    await page.getByRole("searchbox", { name: "Filter by name" }).fill("077777");
    await until(() => rows(".list-row"), (count) => count === 1);
    return `filtered in ${Date.now() - started} ms`;
  });

  await check("the tree opens it and goes to its end by one key", async () => {
    await page.locator(".tree-row").first().focus();
    await page.keyboard.press("Home");
    if ((await page.locator(".tree-row").first().getAttribute("aria-expanded")) !== "true") await page.keyboard.press("ArrowRight");
    await page.locator(".tree-row", { hasText: name(0) }).waitFor();
    const started = Date.now();
    await page.keyboard.press("End");
    // Below the folder stand the server's own: baskets, if it has them, and its status.
    const focused = page.locator(".tree-row:focus");
    for (let above = 0; above < 3 && !(await focused.innerText()).includes(name(FILES - 1)); above++) await page.keyboard.press("ArrowUp");
    await page.locator(".tree-row:focus", { hasText: name(FILES - 1) }).waitFor();
    const took = Date.now() - started;
    const last = page.locator(".tree-row", { hasText: name(FILES - 1) });
    assertEqual([await last.getAttribute("aria-posinset"), await last.getAttribute("aria-setsize")], [String(FILES), String(FILES)], "what a screen reader is told");
    const count = await rows(".tree-row");
    assert(count <= MAX_ROWS, `${count} rows`);
    return `${took} ms, ${count} rows, frames of ${await page.locator(".tree").evaluate(scrollThrough)}`;
  });

  await check("the memory of the page", async () => {
    const bytes = await heap(page);
    assert(bytes < MAX_HEAP, `${bytes} bytes`);
    return `${Math.round(bytes / 1e6)} MB`;
  });
  await context.close();
  await report.check("page, 100,000 entries: the MCP Inspector on the same server, for comparison", () => measureInspector(browser, desk, FILES));
  await desk.stop();
}

/** @param {number} at */
function name(at) {
  return `entry-${String(at).padStart(6, "0")}.txt`;
}

/** Scrolls a list in 100 steps to its end. Runs in the page. @param {Element} list */
async function scrollThrough(list) {
  const times = [];
  let last = performance.now();
  for (let step = 1; step <= 100; step += 1) {
    list.scrollTop = ((list.scrollHeight - list.clientHeight) * step) / 100;
    await new Promise((resolve) => requestAnimationFrame(resolve));
    const now = performance.now();
    times.push(now - last);
    last = now;
  }
  times.sort((a, b) => a - b);
  return `${times[50].toFixed(0)} ms, 95 % under ${times[94].toFixed(0)} ms`;
}

/** What the scripts of a page hold. @param {Page} page */
export async function heap(page) {
  const session = await page.context().newCDPSession(page);
  await session.send("HeapProfiler.collectGarbage");
  const { usedSize } = await session.send("Runtime.getHeapUsage");
  await session.detach();
  return usedSize;
}
