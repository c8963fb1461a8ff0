// What the browser prefers: language and motion. And what the server has: a model for meaning.

import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openPage } from "./browser.mjs";
import { here } from "./modules.mjs";
import { Refdesk } from "./refdesk.mjs";
import { assert, assertEqual, until } from "./report.mjs";

const NOTES = { "harbour.txt": "Every vessel in the harbour is registered by its captain.\n", "till.txt": "Coins and cash are counted each evening.\n", "garden.txt": "The roses need water in summer.\n" };

/** @param {import("./main.mjs").Suite} suite */
export async function checkPreferences({ program, folder, browser, report }) {
  // Its weights are inside of its package.
  const model = execFileSync("python3", ["-B", join(here, "../search/model.py")], { encoding: "utf8" }).trim();
  const notes = join(folder, "notes");
  mkdirSync(notes, { recursive: true });
  for (const [name, text] of Object.entries(NOTES)) writeFileSync(join(notes, name), text);
  const settings = `[search]\nmodel = ${JSON.stringify(model)}\n\n[mounts.notes]\nkind = "fs"\npath = ${JSON.stringify(notes)}\n`;
  const desk = await new Refdesk(program, `${folder}/desk`, settings).start();

  for (const [locale, language, label] of [["ja-JP", "ja", "ホーム"], ["en-GB", "en", "Home"], ["fr-FR", "en", "Home"]]) {
    const { context, page } = await openPage(browser, desk.origin, { locale });
    await report.check(`page, preferences: a browser in ${locale} gets the page in ${language}`, async () => {
      await page.goto(desk.page());
      await page.getByRole("link", { name: label, exact: true }).first().waitFor();
      assertEqual(await page.evaluate(() => document.documentElement.lang), language, "the language of the document");
    }, page);
    await context.close();
  }

  for (const reducedMotion of /** @type {const} */ (["no-preference", "reduce"])) {
    const { context, page } = await openPage(browser, desk.origin, { reducedMotion });
    const moves = reducedMotion === "no-preference";
    await report.check(`page, preferences: ${moves ? "what is new moves" : "nothing moves where the system asks for less motion"}`, async () => {
      await page.goto(desk.page("#/file:///notes/garden.txt"));
      await page.locator(".code-line").first().waitFor();
      // As after a change: the bar shines, and a note comes in.
      await page.evaluate(() => void document.querySelector(".preview-bar")?.classList.add("fresh"));
      await page.getByRole("button", { name: "URI", exact: true }).click();
      await page.locator(".toast").first().waitFor();
      const longest = await page.evaluate(longestMotion);
      assert(moves ? longest > 0.05 : longest < 0.01, `${longest} s`);
      return `${longest} s`;
    }, page);
    await context.close();
  }

  const { context, page } = await openPage(browser, desk.origin);
  await report.check("page, preferences: search with a model finds by words, by meaning, or by both", async () => {
    const mode = page.getByLabel("By", { exact: true });
    const titles = () => page.locator(".hit .hit-uri").allInnerTexts();
    await page.goto(desk.page());
    await page.getByText("Indexed for search").waitFor();
    // None of the notes has this word.
    await page.goto(desk.page("#search?q=ship"));
    await mode.waitFor();
    assertEqual(await mode.locator("option").allInnerTexts(), ["words and meaning", "words", "meaning"], "the choices");
    await mode.selectOption({ label: "meaning" });
    await until(titles, (seen) => seen[0]?.endsWith("harbour.txt"));
    await mode.selectOption({ label: "words" });
    await until(titles, (seen) => seen.length === 0);
    await mode.selectOption({ label: "words and meaning" });
    await until(titles, (seen) => seen[0]?.endsWith("harbour.txt"));
  }, page);
  await context.close();
  await desk.stop();
}

/** The longest animation or transition of what is in the document, in seconds. Runs in the page. */
function longestMotion() {
  const seconds = (/** @type {string} */ list) => list.split(",").map((one) => (one.includes("ms") ? Number.parseFloat(one) / 1000 : Number.parseFloat(one)));
  const all = [...document.querySelectorAll("*")].flatMap((element) => {
    const style = getComputedStyle(element);
    return [...seconds(style.animationDuration), ...seconds(style.transitionDuration)];
  });
  return Math.max(...all);
}
