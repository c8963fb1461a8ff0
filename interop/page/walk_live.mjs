// What changes while the page is open: files, and the server itself.

import { appendFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { listRow, treeRow } from "./hands.mjs";
import { assert, assertEqual, until } from "./report.mjs";

/** @param {import("./walk_browse.mjs").Walk} walk */
export async function walkLive({ page, hand, desk, folder, check }) {
  const file = join(folder, "data/live.txt");
  // What an earlier walk has left.
  rmSync(file, { force: true });

  await check("a new file appears in its list, marked", async () => {
    await page.goto(desk.page("#/file:///handbook/data"));
    await listRow(page, "people.csv").waitFor();
    await until(() => isWatched(page, "file:///handbook/data"), Boolean);
    writeFileSync(file, "one\n");
    await listRow(page, "live.txt").locator(".change-dot").waitFor();
  });

  await check("a file that changes is read again where it is shown", async () => {
    await hand.showInList("live.txt");
    await page.locator(".code-line", { hasText: "one" }).waitFor();
    await until(() => isWatched(page, "file:///handbook/data/live.txt"), Boolean);
    appendFileSync(file, "two, live\n");
    await page.locator(".code-line", { hasText: "two, live" }).waitFor();
    await until(() => page.locator("#announcer").innerText(), (text) => text === "Updated just now");
  });

  await check("a file that is gone leaves its list", async () => {
    await page.goto(desk.page("#/file:///handbook/data"));
    await listRow(page, "live.txt").waitFor();
    rmSync(file);
    await listRow(page, "live.txt").waitFor({ state: "detached" });
  });

  await check("after a restart of the server the page connects again and keeps its place", async () => {
    await page.goto(desk.page("#/file:///handbook/src/main.rs:200"));
    await page.locator(".code-line.target").waitFor();
    await treeRow(page, "main.rs").waitFor();
    const before = await place(page);
    await desk.stop();
    await page.getByRole("button", { name: "Offline" }).waitFor();
    assertEqual(await place(page), before, "the place while offline");
    await desk.start();
    await page.getByRole("button", { name: "Connected" }).waitFor();
    await until(() => page.locator("#announcer").innerText(), (text) => /Connected again|Updated/.test(text));
    assertEqual(await place(page), before, "the place after the restart");
    assert((await treeRow(page, "main.rs").count()) === 1, "the tree has closed");
  });

  await check("a look at the mounts that fails, or comes late, takes nothing from the tree", async () => {
    await page.goto(desk.page("#/file:///handbook/src/main.rs:200"));
    await treeRow(page, "main.rs").waitFor();
    for (const isLate of [false, true]) {
      const [held, release] = hold();
      const [caught, noteCaught] = hold();
      let isFirst = true;
      await page.route("**/mcp", async (route) => {
        const request = route.request().postDataJSON();
        if (!isFirst || request?.params?.uri !== "refdesk://mounts/handbook") return route.fallback();
        isFirst = false;
        noteCaught();
        if (!isLate) return route.abort("connectionreset");
        await held;
        const error = { code: -32603, message: "gone by now" };
        return route.fulfill({ json: { jsonrpc: "2.0", id: request.id, error } });
      });
      const looking = loadRoots(page);
      await caught;
      if (isLate) assert((await loadRoots(page)).includes("file:///handbook/"), "a later look");
      release();
      const top = await looking;
      await page.unroute("**/mcp");
      assert(top.includes("file:///handbook/"), JSON.stringify(top));
      await page.getByRole("button", { name: "Connected" }).waitFor();
      assertEqual(await treeRow(page, "main.rs").count(), 1, "rows of the file");
    }
  });

  await check("after a restart changes are told again", async () => {
    await page.goto(desk.page("#/file:///handbook/data"));
    await listRow(page, "people.csv").waitFor();
    await until(() => isWatched(page, "file:///handbook/data"), Boolean);
    writeFileSync(file, "one\n");
    await listRow(page, "live.txt").waitFor();
    rmSync(file);
    await listRow(page, "live.txt").waitFor({ state: "detached" });
  });
}

/** A promise, and what resolves it. @returns {[Promise<void>, () => void]} */
function hold() {
  let release = () => {};
  const held = new Promise((/** @type {(value: void) => void} */ resolve) => (release = resolve));
  return [held, release];
}

/** Looks at the mounts; returns what then stands at the top of the tree. @param {import("playwright-core").Page} page */
function loadRoots(page) {
  return page.evaluate(async () => {
    const { folders } = globalThis.refdesk;
    await folders.loadRoots().catch(() => {});
    return folders.roots.map((/** @type {{ uri: string }} */ root) => root.uri);
  });
}

/** The address and the lines in view. @param {import("playwright-core").Page} page */
function place(page) {
  return page.evaluate(() => {
    const list = document.querySelector(".code");
    return { address: location.hash, scroll: list?.scrollTop, target: document.querySelector(".code-line.target")?.textContent };
  });
}

/**
 * Whether the server counts a subscription to a resource.
 * @param {import("playwright-core").Page} page
 * @param {string} uri
 */
async function isWatched(page, uri) {
  const told = await page.evaluate(() => globalThis.refdesk.api.readJson("refdesk://subscriptions"));
  return (told?.subscriptions ?? []).some((/** @type {any} */ one) => one.uri?.replace(/\/$/, "") === uri);
}
