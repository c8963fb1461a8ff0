// The screenshots in docs/images: taken by each run, written with `--accept`.

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openPage } from "./browser.mjs";
import { handbookSettings, writeHandbook } from "./handbook.mjs";
import { here } from "./modules.mjs";
import { Refdesk } from "./refdesk.mjs";
import { assert } from "./report.mjs";

const IMAGES = join(here, "../../docs/images");

/** What a picture may weigh, in bytes. */
const MAX_BYTES = 200_000;

/** @type {{ file: string, hash: string, ready: string, options: import("playwright-core").BrowserContextOptions }[]} */
const PICTURES = [
  { file: "page-light.png", hash: "#/file:///handbook/docs/signing.md", ready: "iframe.frame", options: { colorScheme: "light" } },
  { file: "page-dark.png", hash: "#/file:///handbook/src/main.rs:20", ready: ".hl-keyword", options: { colorScheme: "dark" } },
  { file: "page-narrow.png", hash: "#/file:///handbook/docs/signing.md", ready: "iframe.frame", options: { viewport: { width: 390, height: 844 } } },
  { file: "page-japanese.png", hash: "#/file:///handbook/docs/%E8%A8%AD%E8%A8%88.md", ready: "iframe.frame", options: { locale: "ja-JP" } },
];

/** @param {import("./main.mjs").Suite} suite */
export async function takeScreenshots({ program, folder, browser, report, accept }) {
  const desk = await new Refdesk(program, `${folder}/desk`, handbookSettings(writeHandbook(folder))).start();
  for (const { file, hash, ready, options } of PICTURES) {
    const { context, page } = await openPage(browser, desk.origin, { reducedMotion: "reduce", ...options });
    await report.check(`page, screenshot ${file}: is taken, and is small`, async () => {
      await page.goto(desk.page(hash));
      await page.locator(ready).first().waitFor();
      await page.locator("button.state.ready").waitFor();
      if (ready === "iframe.frame") await page.frameLocator(ready).locator("h1").waitFor();
      // The tree and the count of tokens are the last to come.
      await page.locator(".tree-row.selected").waitFor({ state: "attached" });
      await page.locator(".details dt", { hasText: /Tokens|トークン/ }).waitFor({ state: "attached" });
      const picture = await page.screenshot({ animations: "disabled" });
      assert(picture.length < MAX_BYTES, `${picture.length} bytes`);
      if (!accept) return;
      mkdirSync(IMAGES, { recursive: true });
      writeFileSync(join(IMAGES, file), picture);
    }, page);
    await context.close();
  }
  await desk.stop();
}
