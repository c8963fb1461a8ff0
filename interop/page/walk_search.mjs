// Search as a person types, its filters, and the matches marked in the preview.

import { assert, assertEqual, until } from "./report.mjs";

/** @param {import("./walk_browse.mjs").Walk} walk */
export async function walkSearch({ page, hand, desk, check }) {
  await check("search answers while a person types", async () => {
    await page.goto(desk.page());
    await page.locator(".card").first().waitFor();
    await hand.startSearch();
    await page.keyboard.type("rotat");
    await page.keyboard.type("e key");
    // The first letters may find it too, before the address has the rest of them.
    await until(async () => page.url(), (url) => url.endsWith("#search?q=rotate+key"));
    await until(() => hits(page), (seen) => seen.some((uri) => uri.includes("signing.md")));
    assert((await page.locator(".hit mark").count()) > 0, "no match is marked");
  });

  await check("a late event of the address does not take back what was typed since", async () => {
    await page.goto(desk.page());
    await page.locator(".card").first().waitFor();
    const typed = (/** @type {string} */ text) =>
      page.getByRole("searchbox", { name: "Search", exact: true }).evaluate((box, value) => {
        /** @type {HTMLInputElement} */ (box).value = value;
        box.dispatchEvent(new Event("input", { bubbles: true }));
        // A busy browser tells of an address long after it was set.
        dispatchEvent(new HashChangeEvent("hashchange"));
      }, text);
    await hand.startSearch();
    await typed("ro");
    await typed("rotate key");
    await until(async () => page.url(), (url) => url.endsWith("#search?q=rotate+key"));
    // An address that a person writes is followed.
    await page.evaluate(() => (location.hash = "#search?q=backup"));
    await until(() => hits(page), (seen) => seen.some((uri) => uri.includes("notes.txt")));
    await page.goBack();
    await until(() => hits(page), (seen) => seen.some((uri) => uri.includes("signing.md")));
  });

  await check("search filters by type", async () => {
    await hand.choose(page.getByLabel("Type"), "PDF");
    await until(() => hits(page), (seen) => seen.length > 0 && seen.every((uri) => uri.includes("plan.pdf")));
    await hand.choose(page.getByLabel("Type"), "any");
    await until(() => hits(page), (seen) => seen.some((uri) => uri.includes("signing.md")));
  });

  const filterBy = async (/** @type {string} */ label, /** @type {string} */ value, /** @type {(uris: string[]) => boolean} */ isRight) => {
    await hand.choose(page.getByLabel(label, { exact: true }), value);
    const seen = await until(() => hits(page), isRight);
    await hand.choose(page.getByLabel(label, { exact: true }), "any");
    await until(() => hits(page), (all) => all.length > seen.length);
    return seen.length;
  };

  await check("search filters by mount, by age, by audience and by priority", async () => {
    await hand.startSearch();
    await hand.type(page.getByRole("searchbox", { name: "Search", exact: true }), "key");
    const isIn = (/** @type {string[]} */ uris, /** @type {string} */ part) => uris.some((uri) => uri.includes(part));
    await until(() => hits(page), (seen) => ["signing.md", "plan.pdf", "src/main.rs"].every((part) => isIn(seen, part)));
    const counts = [
      await filterBy("Mount", "handbook-git", (seen) => seen.length === 0),
      await filterBy("Changed", "last week", (seen) => isIn(seen, "signing.md") && !isIn(seen, "plan.pdf")),
      await filterBy("Audience", "for people", (seen) => isIn(seen, "signing.md") && !isIn(seen, "/src/")),
      await filterBy("Priority", "≥ 0.8", (seen) => seen.length > 0 && seen.every((uri) => uri.includes("/docs/"))),
    ];
    return `${counts.join(", ")} passages`;
  });

  await check("search without a model has no choice between words and meaning", async () => {
    assertEqual(await page.getByLabel("By", { exact: true }).isVisible(), false, "the choice");
  });

  await check("search finds Japanese text, and filters by language", async () => {
    await hand.startSearch();
    await hand.type(page.getByRole("searchbox", { name: "Search", exact: true }), "署名鍵");
    const isJapanese = (/** @type {string} */ uri) => decodeURIComponent(uri).includes("設計.md");
    await until(() => hits(page), (seen) => seen.some(isJapanese));
    await hand.choose(page.getByLabel("Language"), "English");
    await until(() => hits(page), (seen) => !seen.some(isJapanese));
    await hand.choose(page.getByLabel("Language"), "日本語");
    await until(() => hits(page), (seen) => seen.length > 0 && seen.every(isJapanese));
    await hand.choose(page.getByLabel("Language"), "any");
  });

  await check("a hit opens with its words marked", async () => {
    await hand.startSearch();
    await hand.type(page.getByRole("searchbox", { name: "Search", exact: true }), "second token");
    await until(() => hits(page), (seen) => seen.some((uri) => uri.includes("notes.txt")) && seen.length > 0);
    await until(() => page.locator(".search-status").innerText(), (text) => /passage/.test(text));
    await hand.openFirstHit();
    const marks = await until(() => marked(page), (seen) => seen.length > 0);
    assert(marks.some((word) => /second|token/i.test(word)), marks);
  });

  await check("an empty search says what can be written", async () => {
    await page.goto(desk.page("#search"));
    await page.getByText("Type words").waitFor();
    assertEqual(await page.locator(".hit").count(), 0, "hits");
  });
}

/** @param {import("playwright-core").Page} page */
function hits(page) {
  return page.locator(".hit .hit-uri").allInnerTexts();
}

/** The marked words of the preview, in text or in a frame. @param {import("playwright-core").Page} page */
async function marked(page) {
  const here = await page.locator(".preview-body mark").allInnerTexts();
  const frames = page.frames().filter((frame) => frame !== page.mainFrame());
  const there = await Promise.all(frames.map((frame) => frame.locator("mark").allInnerTexts().catch(() => [])));
  return [...here, ...there.flat()];
}
