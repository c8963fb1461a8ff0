// Folders with 5,000 and 100,000 files: first rows, all rows, scrolling, what the page holds; beside the Inspector's page.

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openPage } from "./browser.mjs";
import { measureInspector } from "./inspector.mjs";
import { Refdesk } from "./refdesk.mjs";
import { assert, assertEqual, until } from "./report.mjs";

/** @typedef {import("playwright-core").Page} Page */

/**
 * What is measured of a page that shows a folder; `problem` is what it shows in place of the rows.
 * @typedef {{ first?: number, all?: number, frames?: string, elements: number, heap: number, problem?: string }} Figures
 */

const MANY = 100_000;

/** As many as the Inspector reads: 64 pages of 100. */
const FEW = 5000;

/** Rows that a list may have in the document, whatever it holds. */
const MAX_ROWS = 120;

/** What the scripts of the page may hold, in bytes, after a collection of garbage. */
const MAX_HEAP = 150_000_000;

/** How long loading all rows may take: a bound against hanging. */
const LOAD_LIMIT = 110_000;

/** @param {import("./main.mjs").Suite} suite */
export async function checkCrowd(suite) {
  const { browser, report } = suite;
  /** @type {string[]} */
  const table = ["| page | entries | first rows | all rows | frames while scrolling, median and 95 % | elements | script memory |", "| --- | --- | --- | --- | --- | --- | --- |"];
  for (const count of [FEW, MANY]) {
    const desk = await startCrowd(suite, count);
    const page = await checkPage(suite, desk, count);
    if (page) table.push(row("refdesk", count, page));
    await report.check(`page, ${count} entries: the MCP Inspector on the same server, for comparison`, async () => {
      const other = await measureInspector(browser, desk, count);
      table.push(row("the Inspector 2.12", count, other));
      return table.at(-1);
    }, undefined, LOAD_LIMIT * 3);
    await desk.stop();
  }
  await report.check("page, crowd: the table of docs/performance.md", async () => `\n${table.join("\n")}`);
}

/** @param {import("./main.mjs").Suite} suite @param {number} count */
function startCrowd({ program, folder }, count) {
  const crowd = join(folder, String(count), "crowd");
  mkdirSync(crowd, { recursive: true });
  for (let at = 0; at < count; at += 1) writeFileSync(join(crowd, name(at)), "");
  const settings = `[mounts.crowd]\nkind = "fs"\npath = ${JSON.stringify(crowd)}\nindex = false\n`;
  return new Refdesk(program, `${folder}/desk-${count}`, settings).start();
}

/** @param {string} page @param {number} count @param {Figures} figures */
function row(page, count, { first, all, frames, elements, heap, problem }) {
  const seconds = (/** @type {number | undefined} */ time) => (time === undefined ? "–" : `${(time / 1000).toFixed(1)} s`);
  const rows = problem ? `none: ${problem}` : seconds(all);
  return `| ${page} | ${count.toLocaleString("en")} | ${seconds(first)} | ${rows} | ${frames ?? "–"} | ${elements.toLocaleString("en")} | ${Math.round(heap / 1e6)} MB |`;
}

/**
 * @param {import("./main.mjs").Suite} suite
 * @param {Refdesk} desk
 * @param {number} count
 * @returns {Promise<Figures | null>} what was measured, if nothing failed
 */
async function checkPage({ browser, report }, desk, count) {
  const { context, page } = await openPage(browser, desk.origin);
  const check = (/** @type {string} */ what, /** @type {() => Promise<unknown>} */ run) => report.check(`page, ${count} entries: ${what}`, run, page);
  const rows = (/** @type {string} */ kind) => page.locator(kind).count();
  const failed = report.failed;
  /** @type {Figures} */
  const figures = { elements: 0, heap: 0 };
  const started = Date.now();

  await check("the first rows of the list", async () => {
    await page.goto(desk.page("#/file:///crowd/"));
    await page.locator(".list-row", { hasText: name(0) }).waitFor();
    figures.first = Date.now() - started;
    return `${figures.first} ms`;
  });

  await check("all rows are loaded, and few are in the document", async () => {
    await until(() => page.evaluate(() => globalThis.refdesk.folders.folder("file:///crowd/").isComplete), Boolean, LOAD_LIMIT);
    figures.all = Date.now() - started;
    await page.getByText(`${count.toLocaleString("en")} resources`).waitFor();
    const shown = await rows(".list-row");
    assert(shown > 10 && shown <= MAX_ROWS, `${shown} rows`);
    return `${figures.all} ms, ${shown} rows`;
  });

  await check("the list scrolls to its end", async () => {
    figures.frames = await page.locator(".rows").evaluate(scrollThrough);
    await page.locator(".list-row", { hasText: name(count - 1) }).waitFor();
    figures.elements = await page.evaluate(() => document.querySelectorAll("*").length);
    const shown = await rows(".list-row");
    assert(shown <= MAX_ROWS, `${shown} rows`);
    return `frames of ${figures.frames}, ${shown} rows`;
  });

  await check("the list filters", async () => {
    const began = Date.now();
    await page.getByRole("searchbox", { name: "Filter by name" }).fill(name(count - 7).slice(6, 12));
    await until(() => rows(".list-row"), (seen) => seen === 1);
    return `filtered in ${Date.now() - began} ms`;
  });

  await check("the tree opens it and goes to its end by one key", () => goToEnd(page, count));

  await check("the memory of the page", async () => {
    figures.heap = await heap(page);
    assert(figures.heap < MAX_HEAP, `${figures.heap} bytes`);
    return `${Math.round(figures.heap / 1e6)} MB`;
  });
  await context.close();
  return report.failed === failed ? figures : null;
}

/** Goes to the last file in the tree by the End key. @param {Page} page @param {number} count */
async function goToEnd(page, count) {
  await page.locator(".tree-row").first().focus();
  await page.keyboard.press("Home");
  if ((await page.locator(".tree-row").first().getAttribute("aria-expanded")) !== "true") await page.keyboard.press("ArrowRight");
  await page.locator(".tree-row", { hasText: name(0) }).waitFor();
  const started = Date.now();
  await page.keyboard.press("End");
  // Below the folder stand the server's own: baskets, if it has them, and its status.
  const focused = page.locator(".tree-row:focus");
  for (let above = 0; above < 3 && !(await focused.innerText()).includes(name(count - 1)); above++) await page.keyboard.press("ArrowUp");
  await page.locator(".tree-row:focus", { hasText: name(count - 1) }).waitFor();
  const took = Date.now() - started;
  const last = page.locator(".tree-row", { hasText: name(count - 1) });
  assertEqual([await last.getAttribute("aria-posinset"), await last.getAttribute("aria-setsize")], [String(count), String(count)], "what a screen reader is told");
  const shown = await page.locator(".tree-row").count();
  assert(shown <= MAX_ROWS, `${shown} rows`);
  return `${took} ms, ${shown} rows, frames of ${await page.locator(".tree").evaluate(scrollThrough)}`;
}

/** @param {number} at */
export function name(at) {
  return `entry-${String(at).padStart(6, "0")}.txt`;
}

/** Scrolls a list in 100 steps to its end. Runs in the page. @param {Element} list */
export async function scrollThrough(list) {
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
  return `${times[50].toFixed(0)} ms, ${times[94].toFixed(0)} ms`;
}

/** What the scripts of a page hold. @param {Page} page */
export async function heap(page) {
  const session = await page.context().newCDPSession(page);
  await session.send("HeapProfiler.collectGarbage");
  const { usedSize } = await session.send("Runtime.getHeapUsage");
  await session.detach();
  return usedSize;
}
