// axe-core on every view: light and dark, wide and narrow, English and Japanese.

import { findings, openPage } from "./browser.mjs";
import { brokenSettings, handbookSettings, upstreamSettings, writeHandbook } from "./handbook.mjs";
import { python, servers } from "./modules.mjs";
import { Refdesk } from "./refdesk.mjs";
import { assert, assertEqual } from "./report.mjs";

/** @typedef {import("playwright-core").Page} Page */

const LOOKS = ["light", "dark"].flatMap((colorScheme) => [1280, 360].flatMap((width) => ["en-US", "ja-JP"].map((locale) => ({ colorScheme, width, locale }))));

/** How long the views of one look may take together: a bound against hanging. */
const LOOK_LIMIT = 900_000;

/**
 * The views: where they are, what must be there before they are judged, and what is pressed first.
 * @type {{ view: string, hash: string, ready: string, act?: (page: Page) => Promise<unknown> }[]}
 */
const VIEWS = [
  { view: "Home", hash: "", ready: ".card .next-step" },
  { view: "a folder", hash: "#/file:///handbook/docs", ready: ".list-row" },
  { view: "text", hash: "#/file:///handbook/notes.txt", ready: ".code-line" },
  { view: "code", hash: "#/file:///handbook/src/main.rs:20", ready: ".hl-keyword" },
  { view: "Markdown", hash: "#/file:///handbook/docs/signing.md", ready: "iframe.frame" },
  { view: "a table", hash: "#/file:///handbook/data/people.csv", ready: ".table-row" },
  { view: "JSON", hash: "#/file:///handbook/data/config.json", ready: ".json-key" },
  { view: "an image", hash: "#/file:///handbook/images/logo.png", ready: "img.picture" },
  { view: "a PDF", hash: "#/file:///handbook/docs/plan.pdf", ready: ".document p" },
  { view: "a notebook", hash: "#/file:///handbook/docs/load.ipynb", ready: ".preview-body h1, iframe.frame" },
  { view: "a diff", hash: "#/file:///handbook/src/owner.diff", ready: ".hl-inserted" },
  { view: "history", hash: "#/file:///handbook/src/keys.py", ready: ".tab", act: async (page) => {
    await page.locator(".preview-bar .tab").last().click();
    await page.locator(".commit").first().waitFor();
  } },
  { view: "a log", hash: "#/git://handbook-git/log", ready: ".list-row, .preview-body p" },
  { view: "an error", hash: "#/file:///handbook/none.txt", ready: ".error-box" },
  { view: "search", hash: "#search?q=key", ready: ".hit" },
  { view: "tools", hash: "#tools", ready: ".component-list a" },
  { view: "a tool", hash: "#tools/resources_search", ready: ".form-row" },
  { view: "a question", hash: "#tools/asking_book_table", ready: ".form-row", act: async (page) => {
    await page.locator(".component-body input").fill("2");
    await page.locator(".component-body button[type=submit]").click();
    await page.locator("dialog[open] .question").waitFor();
  } },
  { view: "a template", hash: `#templates/${encodeURIComponent("file:///handbook/{+path}")}`, ready: ".form-row" },
  { view: "a prompt", hash: "#prompts/asking_invite", ready: ".form-row" },
  { view: "an empty basket", hash: "#basket", ready: ".basket-rows .empty" },
  { view: "a basket", hash: "#/file:///handbook/docs", ready: ".list-row", act: async (page) => {
    await page.locator(".list-row", { hasText: "signing.md" }).getByRole("button").click();
    await page.goto(page.url().replace(/#.*/, "#basket"));
    await page.locator(".basket-rows .count", { hasText: /\d/ }).waitFor();
  } },
  { view: "the keys", hash: "", ready: ".card", act: async (page) => {
    await page.keyboard.press("?");
    await page.locator("dialog[open] .keys").waitFor();
  } },
  { view: "the connection", hash: "", ready: ".card", act: async (page) => {
    await page.locator("button.state").click();
    await page.locator("dialog[open] form").waitFor();
  } },
  { view: "the panes beside", hash: "#/file:///handbook/docs/signing.md", ready: "iframe.frame", act: openPanes },
];

/** Opens what a narrow screen hides. @param {Page} page */
async function openPanes(page) {
  for (const [button, pane] of [[".details-button", ".details dl"], [".side-button", ".tree-row"]]) {
    if (await page.locator(pane).first().isVisible()) continue;
    await page.locator(button).click();
    await page.locator(pane).first().waitFor();
  }
}

/**
 * The findings in a rendered document. Its frame runs no script, so it is judged as a page of its own.
 * @param {Page} page
 * @param {string} origin
 */
async function frameFindings(page, origin) {
  const frames = page.locator("iframe.frame");
  if ((await frames.count()) === 0) return [];
  const markup = await frames.first().getAttribute("srcdoc");
  const copy = await page.context().newPage();
  await copy.goto(`${origin}/explorer/frame.css`);
  await copy.setContent(markup ?? "");
  const found = await findings(copy);
  await copy.close();
  return found;
}

/** @param {import("./main.mjs").Suite} suite */
export async function checkAccessibility({ program, folder, browser, report }) {
  const settings = handbookSettings(writeHandbook(folder)) + upstreamSettings("asking", [python, "-B", `${servers}/asking.py`]) + brokenSettings();
  const desk = await new Refdesk(program, `${folder}/desk`, settings).start();
  await report.check("page, axe-core: a fault that is put into the page is found", async () => {
    const { context, page } = await openPage(browser, desk.origin);
    await page.goto(desk.page());
    await page.locator(".card h3").first().waitFor();
    await page.evaluate(() => document.querySelector("main")?.append(document.createElement("button")));
    const found = await findings(page);
    assert(found.some((one) => one.startsWith("critical button-name")), found);
    await context.close();
  });
  const waiting = [...LOOKS];
  const work = async () => {
    for (let look = waiting.shift(); look; look = waiting.shift()) await checkLook(look, desk, browser, report);
  };
  await Promise.all([work(), work()]);
  await desk.stop();
}

/**
 * @param {typeof LOOKS[number]} look
 * @param {Refdesk} desk
 * @param {import("playwright-core").Browser} browser
 * @param {import("./report.mjs").Report} report
 */
async function checkLook({ colorScheme, width, locale }, desk, browser, report) {
  const look = `${colorScheme}, ${width} px, ${locale.slice(0, 2)}`;
  const options = { colorScheme: /** @type {"light" | "dark"} */ (colorScheme), viewport: { width, height: 800 }, locale, reducedMotion: /** @type {const} */ ("reduce") };
  const { context, page } = await openPage(browser, desk.origin, options);
  await report.check(`page, axe-core, ${look}: no serious or critical finding in ${VIEWS.length} views`, async () => {
    /** @type {string[]} */
    const found = [];
    for (const { view, hash, ready, act } of VIEWS) {
      // Another path first: a hash alone would keep what an earlier view has opened.
      await page.goto("about:blank");
      await page.goto(desk.page(hash));
      await page.locator(ready).first().waitFor();
      await act?.(page);
      const seen = [...(await findings(page)), ...(await frameFindings(page, desk.origin))];
      found.push(...seen.map((one) => `${view}: ${one}`));
      const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      if (overflow > 0) found.push(`${view}: the page is ${overflow} px wider than the screen`);
    }
    assertEqual(found, [], "findings");
  }, page, LOOK_LIMIT);
  await context.close();
}
