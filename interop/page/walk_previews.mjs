// The preview of each type, the switch between formats, details, and what they copy.

import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { JOURNAL_LINES } from "./handbook.mjs";
import { assert, assertEqual, until } from "./report.mjs";
import { isInView } from "./walk_browse.mjs";

/** @typedef {import("playwright-core").Page} Page */

/**
 * A type: its folder and file, and what its preview shows.
 * @type {{ type: string, folder: string, file: string, look: (page: Page) => Promise<unknown> }[]}
 */
const PREVIEWS = [
  { type: "text with line numbers", folder: "", file: "notes.txt", look: async (page) => {
    await page.locator(".code-line .line-text", { hasText: "test the backup" }).waitFor();
    const numbers = await page.locator(".code-line .line-number").evaluateAll((all) => all.map((one) => getComputedStyle(one, "::before").content));
    assertEqual(numbers.slice(0, 3).map((text) => text.replace(/\D/g, "")), ["1", "2", "3"], "the numbers");
  } },
  { type: "code with highlighting", folder: "src", file: "main.rs", look: async (page) => {
    await page.locator(".code-line .hl-keyword").first().waitFor();
    const colours = await page.locator(".code-line span[class^=hl-]").evaluateAll((all) => new Set(all.map((one) => getComputedStyle(one).color)).size);
    assert(colours >= 3, `${colours} colours`);
  } },
  { type: "Markdown", folder: "docs", file: "signing.md", look: async (page) => {
    const frame = page.frameLocator("iframe.frame");
    await frame.getByRole("heading", { name: "Rotate the key" }).waitFor();
    assertEqual(await frame.locator("table td").first().innerText(), "make", "the table");
  } },
  { type: "Japanese Markdown", folder: "docs", file: "設計.md", look: (page) => page.frameLocator("iframe.frame").getByRole("heading", { name: "鍵の更新" }).waitFor() },
  { type: "CSV as a table", folder: "data", file: "people.csv", look: async (page) => {
    await page.getByRole("columnheader", { name: "city" }).waitFor();
    await page.getByRole("cell", { name: "Lovelace, Ada" }).waitFor();
    const left = async (/** @type {import("playwright-core").Locator} */ cell) => (await cell.boundingBox())?.x;
    assertEqual(await left(page.getByRole("cell", { name: "London" })), await left(page.getByRole("columnheader", { name: "city" })), "where the column begins");
  } },
  { type: "JSON as a tree", folder: "data", file: "config.json", look: async (page) => {
    await page.locator(".preview-body .json-key", { hasText: "keys:" }).waitFor();
    assertEqual(await page.locator(".preview-body .json-key", { hasText: "rotate:" }).count(), 0, "closed levels");
  } },
  { type: "an image", folder: "images", file: "logo.png", look: (page) => picture(page, 240) },
  { type: "an SVG as a picture", folder: "images", file: "map.svg", look: (page) => picture(page, 320) },
  { type: "a PDF by page", folder: "docs", file: "plan.pdf", look: (page) => page.locator(".document", { hasText: "rotated in spring" }).waitFor() },
  { type: "a notebook", folder: "docs", file: "load.ipynb", look: async (page) => {
    const shown = () => text(page);
    await until(shown, (seen) => seen.includes("Load per hour") && seen.includes("85"));
  } },
  { type: "a diff", folder: "src", file: "owner.diff", look: async (page) => {
    await page.locator(".hl-inserted", { hasText: "key.owner.name" }).waitFor();
    await page.locator(".hl-deleted", { hasText: "key.name" }).waitFor();
  } },
];

/** @param {import("./walk_browse.mjs").Walk} walk */
export async function walkPreviews({ page, hand, desk, check }) {
  for (const { type, folder, file, look } of PREVIEWS) {
    await check(`the preview shows ${type}`, async () => {
      await page.goto(desk.page(`#/file:///handbook/${folder}`));
      await hand.showInList(file);
      await look(page);
    });
  }

  await check("a PDF turns its pages", async () => {
    await page.goto(desk.page("#/file:///handbook/docs/plan.pdf"));
    await page.locator(".document", { hasText: "rotated in spring" }).waitFor();
    await hand.nextPage();
    await page.locator(".document", { hasText: "Hardware" }).waitFor();
    assert(!(await text(page)).includes("rotated in spring"), "the first page is still there");
    assert(/\/ 3/.test(await page.locator(".section-bar").innerText()), "the number of pages");
  });

  await walkLongText({ page, hand, desk, check });

  await check("JSON opens level by level", async () => {
    await page.goto(desk.page("#/file:///handbook/data/config.json"));
    await hand.press(page.locator(".preview-body summary", { hasText: "keys:" }));
    await page.locator(".preview-body .json-leaf", { hasText: 'rotate: "yearly"' }).waitFor();
  });

  await check("the format switch shows the source and what was rendered", async () => {
    await page.goto(desk.page("#/file:///handbook/docs/signing.md"));
    await page.frameLocator("iframe.frame").locator("h1").waitFor();
    const formats = page.getByRole("group", { name: "Formats" });
    await hand.press(formats.getByRole("button", { name: "Source" }));
    await page.locator(".code-line", { hasText: "# Signing releases" }).waitFor();
    assertEqual(await formats.getByRole("button", { name: "Source" }).getAttribute("aria-pressed"), "true", "pressed");
    await hand.press(formats.getByRole("button", { name: "Rendered" }));
    await page.frameLocator("iframe.frame").locator("h1").waitFor();
  });

  await check("the git history of a file leads to a commit and its diff", async () => {
    await page.goto(desk.page("#/file:///handbook/src/keys.py"));
    await hand.press(page.getByRole("group", { name: "Formats" }).getByRole("button", { name: "History" }));
    const commits = page.locator(".commit");
    await commits.first().waitFor();
    assertEqual(await commits.locator(".subject").allInnerTexts(), ["Name the owner of a key", "Add the handbook"], "the commits");
    await hand.press(commits.first().getByRole("link").first());
    await until(() => text(page), (seen) => seen.includes("key.owner.name"));
    assert(page.url().includes("#/git://handbook-git/commit/"), page.url());
  });

  await walkDetails({ page, hand, desk, check });
}

/** A text of 20,000 lines: read by window, where it is looked at. @param {Pick<import("./walk_browse.mjs").Walk, "page" | "hand" | "desk" | "check">} walk */
async function walkLongText({ page, desk, check }) {
  const uri = "file:///handbook/data/journal.txt";
  const line = (/** @type {number} */ number) => page.locator(".code-line", { hasText: new RegExp(`^entry ${number}: `) });
  /** @type {any[]} */
  let reads = [];
  const note = (/** @type {import("playwright-core").Request} */ request) => {
    const { method, params } = JSON.parse(request.postData() ?? "{}");
    if (method === "resources/read" && params.uri === uri) reads.push(params._meta?.["dev.refdesk/window"] ?? "all of it");
  };
  const isSparing = async () => {
    const rows = await page.locator(".code-line").count();
    assert(rows < 150, `${rows} lines in the document`);
    const [most] = reads.map((window) => Number(window.max_lines ?? JOURNAL_LINES)).sort((a, b) => b - a);
    assert(reads.length > 0 && reads.length < 20 && most <= 1000, JSON.stringify(reads));
    return `${reads.length} windows of at most ${most} lines`;
  };
  page.on("request", note);

  await check("a text of 20,000 lines is read by window as it scrolls", async () => {
    await page.goto("about:blank");
    await page.goto(desk.page(`#/${uri}`));
    await line(1).waitFor();
    const list = page.locator(".code");
    const scrollTo = (/** @type {number} */ part) => list.evaluate((element, at) => void (element.scrollTop = element.scrollHeight * at), part);
    await scrollTo(0.5);
    const [middle] = await until(() => shownLines(page), (seen) => seen.length > 10 && seen[0] > 1000);
    assert(middle > 5000 && middle < 15_000, `line ${middle} in the middle`);
    // The length of what is not read is a guess, so the end may move away once.
    await until(async () => (await scrollTo(1), await shownLines(page)), (seen) => seen.at(-1) === JOURNAL_LINES);
    await until(() => isInView(line(JOURNAL_LINES)), Boolean);
    return isSparing();
  });

  await check("a deep link shows line 15,000 of 20,000, and the lines around it", async () => {
    reads = [];
    await page.goto("about:blank");
    await page.goto(desk.page(`#/${uri}:15000`));
    const target = page.locator(".code-line.target");
    await target.filter({ hasText: "entry 15000: " }).waitFor();
    await until(() => isInView(target), Boolean);
    assertEqual(await target.locator(".line-number").getAttribute("data-line"), "15000", "its number");
    const seen = await shownLines(page);
    assertEqual(seen, Array.from({ length: seen.length }, (_, at) => seen[0] + at), "the lines in a row");
    await page.locator(".code").evaluate((element) => void (element.scrollTop -= 20 * 1000));
    await line(14_000).waitFor();
    page.off("request", note);
    return isSparing();
  });
}

/** The entries of the journal that are in the document, in order. @param {Page} page @returns {Promise<number[]>} */
async function shownLines(page) {
  const texts = await page.locator(".code-line .line-text").allInnerTexts();
  return texts.map((text) => Number(/^entry (\d+):/.exec(text)?.[1])).filter(Number.isFinite).sort((a, b) => a - b);
}

/** @param {Pick<import("./walk_browse.mjs").Walk, "page" | "hand" | "desk" | "check">} walk */
async function walkDetails({ page, hand, desk, check }) {
  const details = page.getByRole("complementary", { name: "Details" });
  const uri = "file:///handbook/docs/signing.md";

  await check("the details name type, size, tokens, priority and mount", async () => {
    await page.goto(desk.page(`#/${uri}`));
    const facts = () => details.locator("dl").innerText().catch(() => "");
    await until(facts, (seen) => ["text/markdown", "tokens", "0.9", "handbook (fs)"].every((word) => seen.includes(word)));
  });

  await check("the details of a resource behind another server say how old they are", async () => {
    await page.goto(desk.page("#/asking+menu://soup"));
    await details.locator("dd", { hasText: /fetched from the server (now|\d+ sec\. ago)/ }).waitFor();
  });

  await check("the details copy the URI, a mention, a tool call and a curl that works", async () => {
    await page.goto(desk.page(`#/${uri}`));
    await details.getByText(uri, { exact: true }).waitFor();
    const copied = async (/** @type {string} */ label) => {
      await page.evaluate(() => navigator.clipboard.writeText(""));
      await hand.press(details.getByRole("button", { name: label, exact: true }));
      return until(() => page.evaluate(() => navigator.clipboard.readText()), (seen) => seen !== "");
    };
    assertEqual(await copied("URI"), uri, "the URI");
    assertEqual(await copied("@server:uri"), `@refdesk:${uri}`, "the mention");
    assertEqual(JSON.parse(await copied("Tool call")).params.arguments, { uri }, "the call");
    const { stdout } = await promisify(execFile)("sh", ["-c", await copied("curl")], { timeout: 20_000 });
    assert(stdout.includes("Signing releases"), stdout);
  });
}

/** @param {Page} page @param {number} width */
async function picture(page, width) {
  const image = page.locator("img.picture");
  await image.waitFor();
  await until(() => image.evaluate((one) => /** @type {HTMLImageElement} */ (one).naturalWidth), (seen) => seen === width);
}

/** What the preview says, in frames too. @param {Page} page */
export async function text(page) {
  const frames = page.frames().filter((frame) => frame !== page.mainFrame());
  const there = await Promise.all(frames.map((frame) => frame.locator("body").innerText().catch(() => "")));
  return [await page.locator(".preview-body").innerText(), ...there].join("\n");
}
