// The basket: tokens against a budget, proposals, copies, and saving it on the server.

import { listRow, treeRow } from "./hands.mjs";
import { assert, assertEqual, until } from "./report.mjs";

/** @param {import("./walk_browse.mjs").Walk} walk */
export async function walkBasket({ page, hand, desk, check }) {
  await check("resources go into the basket, which shows their tokens against the budget", async () => {
    await page.goto(desk.page("#/file:///handbook/docs"));
    await hand.pick("signing.md");
    await hand.pick("設計.md");
    assertEqual(await listRow(page, "signing.md").getByRole("button").getAttribute("aria-pressed"), "true", "picked");
    await hand.showBasket();
    const total = await until(() => tokens(page), (seen) => seen > 100);
    const rows = await page.locator(".basket-rows .count").allInnerTexts();
    assertEqual(rows.map(numberOf).reduce((one, other) => one + other, 0), total, "the sum of the rows");
    assertEqual(await page.getByRole("meter").getAttribute("aria-valuenow"), String(total), "what a screen reader is told");
    return `${total} tokens`;
  });

  await check("a basket beyond its budget says so", async () => {
    await hand.type(page.getByLabel("Budget", { exact: true }), "100");
    await hand.leave();
    await page.locator(".meter.over").waitFor();
    await hand.type(page.getByLabel("Budget", { exact: true }), "8000");
    await hand.leave();
    await page.locator(".meter:not(.over)").waitFor();
  });

  await check("the basket copies as Markdown and as content blocks", async () => {
    const copied = async (/** @type {string} */ label) => {
      await page.evaluate(() => navigator.clipboard.writeText(""));
      await hand.press(page.getByRole("button", { name: label }));
      return until(() => page.evaluate(() => navigator.clipboard.readText()), (seen) => seen !== "");
    };
    const markdown = await copied("Copy as Markdown");
    assert(markdown.includes("## file:///handbook/docs/signing.md") && markdown.includes("署名鍵"), markdown);
    const blocks = JSON.parse(await copied("Copy as content blocks"));
    assertEqual(blocks.map((/** @type {any} */ block) => [block.type, block.resource.mimeType]), [["resource", "text/markdown"], ["resource", "text/markdown"]], "the blocks");
  });

  await check("the basket proposes what answers a question", async () => {
    await hand.type(page.getByLabel("Or let refdesk propose"), "How is the signing key rotated?");
    await hand.press(page.getByRole("button", { name: "Propose" }));
    await page.locator(".proposals li", { hasText: "signing.md" }).first().waitFor();
  });

  await check("the basket is saved as a collection, where the server can", async () => {
    const canSave = await page.evaluate(() => globalThis.refdesk.api.hasBaskets);
    if (!canSave) {
      assertEqual(await page.getByRole("button", { name: "Save on the server" }).count(), 0, "buttons of what it cannot");
      return "this server keeps no baskets";
    }
    await hand.press(page.getByRole("button", { name: "Save on the server" }));
    await hand.type(page.getByRole("dialog").getByLabel("Name"), "review");
    await hand.press(page.getByRole("dialog").getByRole("button", { name: "Save" }));
    await page.locator(".toast", { hasText: "basket://review" }).waitFor();
    await page.goto(desk.page("#/basket://review"));
    await listRow(page, "signing.md").waitFor();
    await hand.toggleFolder("Baskets");
    await treeRow(page, "review").waitFor();
    await hand.showBasket();
    return "basket://review";
  });

  await check("the basket loses one resource, then all", async () => {
    await hand.press(page.getByRole("button", { name: "Remove signing.md" }));
    await until(() => page.locator(".basket-view > .basket-rows > li").count(), (seen) => seen === 1);
    await hand.press(page.getByRole("button", { name: "Empty it" }));
    await page.getByText("The basket is empty.").waitFor();
  });
}

/** @param {import("playwright-core").Page} page */
async function tokens(page) {
  return numberOf(await page.locator(".budget-line strong").innerText());
}

/** @param {string} text */
function numberOf(text) {
  return Number(text.replace(/\D/g, ""));
}
