// Chromium, and contexts in which everything that a page does against the rules is noted.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { modules } from "./modules.mjs";

const { chromium } = await import(join(modules, "playwright-core/index.mjs"));

/** How long a page may take to show what a check waits for: a bound, not a measure. */
const WAIT_LIMIT = 30_000;

/** @returns {Promise<import("playwright-core").Browser>} */
export function launch() {
  return chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox", "--disable-dev-shm-usage"] });
}

/**
 * What a page did: scripts of others that ran, requests to other origins, dialogs, errors.
 * @typedef {{ ran: string[], reached: string[], dialogs: string[], errors: string[], blocked: string[] }} Watched
 */

/**
 * A page whose requests stay at its origin, and at others that are named: the rest is noted and refused.
 * @param {import("playwright-core").Browser} browser
 * @param {string} origin
 * @param {import("playwright-core").BrowserContextOptions} [options]
 * @param {string[]} [others]
 */
export async function openPage(browser, origin, options = {}, others = []) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, locale: "en-US", ...options });
  context.setDefaultTimeout(WAIT_LIMIT);
  // Only pages of this machine, and those with TLS, have a clipboard.
  if (origin.startsWith("http://127.0.0.1:")) await context.grantPermissions(["clipboard-read", "clipboard-write"], { origin });
  /** @type {Watched} */
  const watched = { ran: [], reached: [], dialogs: [], errors: [], blocked: [] };
  await context.exposeBinding("canary", (_, what) => void watched.ran.push(String(what)));
  await context.route((url) => !isOwn(url, origin) && !others.includes(url.origin), (route) => {
    watched.reached.push(route.request().url());
    return route.abort();
  });
  context.on("page", (opened) => watch(opened, watched));
  const page = await context.newPage();
  return { context, page, watched };
}

/** @param {URL} url @param {string} origin */
function isOwn(url, origin) {
  return url.origin === origin || ["data:", "about:"].includes(url.protocol) || url.href.startsWith(`blob:${origin}/`);
}

/**
 * @param {import("playwright-core").Page} page
 * @param {Watched} watched
 */
function watch(page, watched) {
  page.on("dialog", (dialog) => {
    watched.dialogs.push(dialog.message());
    dialog.dismiss().catch(() => {});
  });
  page.on("pageerror", (error) => watched.errors.push(error.message));
  page.on("console", (message) => {
    if (message.type() !== "error") return;
    const isPolicy = /Content Security Policy|sandboxed|Blocked script execution/i.test(message.text());
    (isPolicy ? watched.blocked : watched.errors).push(message.text());
  });
}

const AXE = readFileSync(join(modules, "axe-core/axe.min.js"), "utf8");

/**
 * The serious and critical findings of axe-core in what a page shows.
 * @param {import("playwright-core").Page} page
 * @returns {Promise<string[]>}
 */
export async function findings(page) {
  await page.evaluate(`${AXE}; 0`);
  return page.evaluate(async () => {
    const { violations } = await globalThis.axe.run(document, { resultTypes: ["violations"], iframes: false });
    const bad = violations.filter(({ impact }) => impact === "serious" || impact === "critical");
    const say = ({ html, any, all, none }) => `${html.slice(0, 160)} ${[...any, ...all, ...none].map((one) => one.message).join("; ")}`;
    return bad.map(({ id, impact, nodes }) => `${impact} ${id} ×${nodes.length}: ${nodes.slice(0, 3).map(say).join("\n  ")}`);
  });
}
