// Checks of the page in Chromium: `node main.mjs PROGRAM [--accept] [SUBJECT…]`. suite.py starts it.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { checkAccessibility } from "./accessibility.mjs";
import { launch } from "./browser.mjs";
import { checkCrowd } from "./crowd.mjs";
import { checkElsewhere } from "./elsewhere.mjs";
import { checkGuards } from "./guards.mjs";
import { checkHostile } from "./hostile.mjs";
import { checkLists } from "./lists.mjs";
import { checkPreferences } from "./preferences.mjs";
import { stopAll } from "./refdesk.mjs";
import { Report } from "./report.mjs";
import { takeScreenshots } from "./screenshots.mjs";
import { checkSources } from "./sources.mjs";
import { checkWalks, WALKS } from "./walks.mjs";

/**
 * @typedef {object} Suite
 * @property {string} program
 * @property {string} folder a temporary one
 * @property {import("playwright-core").Browser} browser
 * @property {Report} report
 * @property {boolean} accept whether screenshots are written anew
 * @property {string[]} chosen the subjects that were named
 */

/** The subjects in order; the first one needs no browser. @type {Record<string, (suite: Suite) => Promise<void>>} */
const SUBJECTS = { sources: checkSources, walks: checkWalks, elsewhere: checkElsewhere, lists: checkLists, preferences: checkPreferences, accessibility: checkAccessibility, hostile: checkHostile, guards: checkGuards, crowd: checkCrowd, screenshots: takeScreenshots };

const [program, ...words] = process.argv.slice(2);
if (!program) throw new Error("usage: node main.mjs PROGRAM [--accept] [SUBJECT…]");
const chosen = words.filter((word) => !word.startsWith("--"));
if (chosen.some((word) => word in WALKS)) chosen.push("walks");
const folder = mkdtempSync(join(tmpdir(), "refdesk-page-"));
const report = new Report();
/** @type {any} */
let browser = null;
process.stdin.once("end", () => close().finally(() => process.exit(1))).resume();
try {
  for (const [name, run] of Object.entries(SUBJECTS)) {
    if (chosen.length > 0 && !chosen.includes(name)) continue;
    if (run !== checkSources) browser ??= await launch();
    const suite = { program, folder: join(folder, name), browser, report, accept: words.includes("--accept"), chosen };
    await run(suite).catch((error) => report.check(`page, ${name}: runs to its end`, () => Promise.reject(error)));
    await stopAll();
  }
} finally {
  await close();
}
process.exit(report.failed > 0 ? 1 : 0);

async function close() {
  await stopAll();
  await browser?.close().catch(() => {});
  rmSync(folder, { recursive: true, force: true });
}
