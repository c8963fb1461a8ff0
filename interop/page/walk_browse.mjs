// Browsing: mounts, tree, breadcrumbs, deep links, filter and sort.

import { listRow, treeRow } from "./hands.mjs";
import { assert, assertEqual, until } from "./report.mjs";

/** @typedef {{ page: import("playwright-core").Page, hand: any, desk: import("./refdesk.mjs").Refdesk, folder: string, check: (name: string, run: () => Promise<unknown>) => Promise<void> }} Walk */

/** @param {Walk} walk */
export async function walkBrowse({ page, hand, desk, check }) {
  await check("Home shows each mount, its state and that it is indexed", async () => {
    await page.goto(desk.page());
    const card = (/** @type {string} */ name) => page.locator(".card", { has: page.locator("h3", { hasText: new RegExp(`^${name}$`) }) });
    await card("handbook").locator(".badge", { hasText: "ready" }).waitFor();
    await card("handbook").getByText("Indexed for search").waitFor();
    // It may still start when the page opens, so its card has to change by itself.
    await card("asking").locator(".badge", { hasText: "ready" }).waitFor();
    const names = await page.locator(".card h3").allInnerTexts();
    assertEqual(names.sort(), ["asking", "broken", "handbook", "handbook-git"], "the mounts");
  });

  await check("Home says how far an index is, and no share that nobody knows", async () => {
    const card = page.locator(".card", { has: page.locator("h3", { hasText: /^handbook$/ }) });
    await page.route("**/mcp", async (route) => {
      if (route.request().postDataJSON()?.params?.uri !== "refdesk://mounts/handbook") return route.fallback();
      const response = await route.fetch();
      const json = await response.json();
      const [part] = json.result.contents;
      part.text = JSON.stringify({ ...JSON.parse(part.text), index: { complete: false, indexed: 12_300 } });
      return route.fulfill({ response, json });
    });
    await page.reload();
    await card.getByText("12,300 resources indexed so far").waitFor();
    assertEqual(await card.getByRole("progressbar").getAttribute("value"), null, "the share");
    await page.unroute("**/mcp");
    await page.reload();
    await card.getByText("Indexed for search").waitFor();
    assertEqual(await card.getByRole("progressbar").getAttribute("value"), "1", "the share of all");
  });

  await check("Home shows what a mount counts, what is kept of its documents, and what is wrong with one that fails", async () => {
    const card = (/** @type {string} */ name) => page.locator(".card", { has: page.locator("h3", { hasText: new RegExp(`^${name}$`) }) });
    await card("handbook").getByText(/^fs · \d+ resources$/).waitFor();
    await card("broken").locator(".badge", { hasText: "failed" }).waitFor();
    const problem = await card("broken").locator(".problem").innerText();
    assert(/^the server cannot be reached (now|.* ago)$/.test(problem), problem);
    assert((await card("broken").locator(".next-step").innerText()).startsWith("Next: check that the server runs"), "the next step");
    assertEqual(await card("handbook").locator(".problem, .next-step").count(), 0, "problems of a mount that is ready");
    await treeRow(page, "broken").locator(".dot[data-state=failed]").waitFor();
    // Documents are counted once they are converted, and the templates of a server once they are listed.
    await page.evaluate(() => globalThis.refdesk.api.templates());
    await page.evaluate(() => globalThis.refdesk.api.read("file:///handbook/docs/plan.pdf", { accept: ["text/markdown"] }));
    await page.reload();
    const kept = card("handbook").getByText(/^\d+ documents converted, \d+ from the cache · [\d.]+ \w+ of [\d.]+ \w+ kept$/);
    await kept.waitFor();
    await card("asking").getByText(/^upstream · (\d+ resources · )?1 template$/).waitFor();
    return `${problem}; ${await kept.innerText()}`;
  });

  await check("Home shows the subscriptions, and those that come", async () => {
    const rows = page.locator("section", { has: page.getByRole("heading", { name: "Subscriptions" }) }).locator("tbody tr");
    await rows.filter({ hasText: "refdesk://mounts" }).waitFor();
    await rows.filter({ hasText: "list of resources" }).waitFor();
    await page.evaluate(() => globalThis.refdesk.client.subscribe("file:///handbook/notes.txt"));
    const row = rows.filter({ hasText: "file:///handbook/notes.txt" });
    await row.waitFor();
    assertEqual((await row.locator("td").allInnerTexts())[1], "1", "the subscribers");
    await page.evaluate(() => globalThis.refdesk.client.unsubscribe("file:///handbook/notes.txt"));
    await row.waitFor({ state: "detached" });
  });

  await check("Home shows who is connected and what was asked, where the server tells", async () => {
    const told = await page.evaluate(() => globalThis.refdesk.api.readJson("refdesk://clients").catch(() => null));
    const section = (/** @type {string} */ title) => page.locator("section", { has: page.getByRole("heading", { name: title }) });
    if (!told) return void (await section("Connected clients").getByText("does not tell who is connected").waitFor());
    await section("Connected clients").getByRole("cell", { name: "refdesk-page" }).first().waitFor();
    // What is asked about the server itself is not among them.
    await section("Recent requests").getByRole("cell", { name: "initialize" }).first().waitFor();
    return `${told.clients.length} clients`;
  });

  await check("Home has the text that adds this server to a host", async () => {
    await hand.press(page.getByRole("button", { name: "Codex" }));
    const text = await page.locator(".host-text pre").innerText();
    assert(text.includes(`${desk.origin}/mcp`), text);
  });

  await check("the tree opens folder by folder, and shows a file", async () => {
    await hand.toggleFolder("handbook");
    await treeRow(page, "docs").waitFor();
    await hand.toggleFolder("docs");
    await hand.showInTree("signing.md");
    const title = page.frameLocator("iframe.frame").getByRole("heading", { name: "Signing releases" });
    await title.waitFor();
    assertEqual(new URL(page.url()).hash, "#/file:///handbook/docs/signing.md", "the address");
    assertEqual(await treeRow(page, "signing.md").getAttribute("aria-selected"), "true", "selected in the tree");
  });

  await check("the tree closes a folder", async () => {
    await hand.toggleFolder("docs");
    await treeRow(page, "signing.md").waitFor({ state: "detached" });
  });

  await check("breadcrumbs name the way and lead back", async () => {
    const crumbs = page.getByRole("navigation", { name: "Path" });
    assertEqual(await crumbs.locator("li").allInnerTexts(), ["handbook", "docs", "signing.md"], "the way");
    await hand.press(crumbs.getByRole("link", { name: "docs" }));
    await listRow(page, "plan.pdf").waitFor();
  });

  await check("a deep link shows its line, even far down", async () => {
    await page.goto(desk.page("#/file:///handbook/src/main.rs:343"));
    const line = page.locator(".code-line.target");
    await line.waitFor();
    assertEqual(await page.locator(".code-line.target .line-number").getAttribute("data-line"), "343", "the line");
    assert((await line.innerText()).includes("let line = 343;"), await line.innerText());
    await until(() => isInView(line), Boolean);
  });

  await check("the list filters by name and counts", async () => {
    await page.goto(desk.page("#/file:///handbook/docs"));
    await listRow(page, "signing.md").waitFor();
    await hand.type(page.getByRole("searchbox", { name: "Filter by name" }), "pdf");
    await until(() => names(page), (seen) => seen.join() === "plan.pdf");
    await hand.type(page.getByRole("searchbox", { name: "Filter by name" }), "");
    await until(() => names(page), (seen) => seen.length === 4);
  });

  await check("the list sorts by size, and the other way, by priority and by age", async () => {
    await hand.press(page.getByRole("button", { name: "Size" }));
    const sorted = await until(() => sizes(page), (seen) => seen.length === 4 && isSorted(seen));
    await hand.press(page.getByRole("button", { name: "Size" }));
    await until(() => sizes(page), (seen) => isSorted([...seen].reverse()));
    assertEqual(await page.locator(".list-head .size").getAttribute("aria-sort"), "ascending", "what a screen reader is told");
    await hand.press(page.getByRole("button", { name: "Priority" }));
    await until(() => names(page), (seen) => seen.slice(0, 2).sort().join() === "signing.md,設計.md");
    await hand.press(page.getByRole("button", { name: "Changed" }));
    // The longer a path is, the older is its file, and the plan is the oldest.
    await until(() => shownNames(page), (seen) => seen.at(-1) === "plan.pdf" && seen.indexOf("設計.md") < seen.indexOf("signing.md"));
    await hand.press(page.getByRole("button", { name: "Changed" }));
    await until(() => shownNames(page), (seen) => seen[0] === "plan.pdf");
    await hand.press(page.getByRole("button", { name: "Name" }));
    return `sizes ${sorted.join(", ")}`;
  });
}

/** @param {import("playwright-core").Page} page */
function names(page) {
  return page.locator(".list-row .row-name").allInnerTexts();
}

/** The names of the rows, from top to bottom. @param {import("playwright-core").Page} page */
function shownNames(page) {
  return page.locator(".list-row").evaluateAll((all) => all
    .map((row) => ({ y: row.getBoundingClientRect().y, name: row.querySelector(".row-name")?.textContent ?? "" }))
    .sort((a, b) => a.y - b.y)
    .map(({ name }) => name));
}

/** The sizes of the rows in bytes, from top to bottom. @param {import("playwright-core").Page} page */
async function sizes(page) {
  const rows = await page.locator(".list-row").evaluateAll((all) => all
    .map((row) => ({ y: row.getBoundingClientRect().y, size: row.querySelector(".size")?.textContent ?? "" }))
    .sort((a, b) => a.y - b.y)
    .map(({ size }) => size));
  return rows.map((text) => Number.parseFloat(text) * (/k/i.test(text) ? 1024 : 1));
}

/** @param {number[]} values */
function isSorted(values) {
  return values.every((value, at) => at === 0 || values[at - 1] >= value);
}

/** @param {import("playwright-core").Locator} target */
export function isInView(target) {
  return target.evaluate((element) => {
    const { top, bottom, left } = element.getBoundingClientRect();
    const hit = document.elementFromPoint(left + 20, (top + bottom) / 2);
    return Boolean(hit && (element === hit || element.contains(hit)));
  });
}
