// The page on other servers: another refdesk, server-everything, and servers that have no sessions.

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openPage } from "./browser.mjs";
import { handbookSettings, upstreamSettings, writeHandbook } from "./handbook.mjs";
import { treeRow } from "./hands.mjs";
import { build, python, servers } from "./modules.mjs";
import { serveProxy } from "./proxy.mjs";
import { freePort, Refdesk, startServer } from "./refdesk.mjs";
import { assert, assertEqual, until } from "./report.mjs";

const EVERYTHING = join(build, "everything/node_modules/@modelcontextprotocol/server-everything/dist/index.js");

/** @typedef {import("playwright-core").Page} Page */
/** @typedef {{ browser: import("playwright-core").Browser, desk: Refdesk, program: string, folder: string, report: import("./report.mjs").Report }} Visit */

/** @param {import("./main.mjs").Suite} suite */
export async function checkElsewhere({ program, folder, browser, report }) {
  const desk = await new Refdesk(program, `${folder}/desk`, handbookSettings(writeHandbook(folder))).start();
  const visit = { browser, desk, program, folder, report };
  await visitRefdesk(visit);
  await visitEverything(visit);
  await visitStatelessRefdesk(visit);
  await visitStatelessOther(visit);
  await desk.stop();
}

/**
 * Opens the page of a refdesk, and points it at another address.
 * @param {Pick<Visit, "browser" | "desk">} visit
 * @param {string} url
 */
export async function openAt({ browser, desk }, url) {
  const opened = await openPage(browser, desk.origin, {}, [new URL(url).origin]);
  await opened.page.goto(desk.page());
  await point(opened.page, url);
  await opened.page.locator(".server-line", { hasText: "MCP 20" }).waitFor();
  return opened;
}

/** @param {Page} page @param {string} url */
async function point(page, url) {
  await page.locator("button.state").click();
  const dialog = page.getByRole("dialog", { name: "Connection" });
  await dialog.getByLabel("MCP address").fill(url);
  await dialog.getByRole("button", { name: "Connect", exact: true }).click();
  await page.locator(".server-line", { hasText: url }).waitFor();
}

/** Opens a place in the page that is open. @param {Page} page @param {string} hash */
async function show(page, hash) {
  await page.evaluate((place) => void (location.hash = place), hash);
}

/** @param {Visit} visit */
async function visitRefdesk(visit) {
  const { program, folder, desk } = visit;
  const notes = join(folder, "notes");
  mkdirSync(notes, { recursive: true });
  writeFileSync(join(notes, "ferry.txt"), "The ferry leaves at noon.\n");
  const mount = `[mounts.notes]\nkind = "fs"\npath = ${JSON.stringify(notes)}\n`;
  const other = await new Refdesk(program, `${folder}/other`, `[server]\norigins = [${JSON.stringify(desk.origin)}]\n\n${mount}`).start();
  const { context, page, watched } = await openAt(visit, other.banner.url);
  const check = (/** @type {string} */ name, /** @type {() => Promise<unknown>} */ run) => visit.report.check(`page, another refdesk: ${name}`, run, page);

  await check("its tree, its texts and its search are there", async () => {
    await treeRow(page, "notes").locator(".twisty").click();
    await treeRow(page, "ferry.txt").locator(".row-name").click();
    await page.locator(".code-line", { hasText: "The ferry leaves at noon." }).waitFor();
    assertEqual(await treeRow(page, "handbook").count(), 0, "mounts of the first one");
    await page.getByRole("searchbox", { name: "Search", exact: true }).fill("ferry");
    await page.locator(".hit", { hasText: "ferry.txt" }).first().waitFor();
  });

  await check("its changes are told", async () => {
    await show(page, "#/file:///notes/ferry.txt");
    await page.locator(".code-line", { hasText: "noon" }).waitFor();
    await until(() => page.evaluate(() => globalThis.refdesk.api.readJson("refdesk://subscriptions")), (told) => JSON.stringify(told).includes("ferry.txt"));
    writeFileSync(join(notes, "ferry.txt"), "The ferry leaves at dawn.\n");
    await page.locator(".code-line", { hasText: "dawn" }).waitFor();
  });

  await check("the page stays there after it is loaded again, and copies a command for that address", async () => {
    await page.reload();
    await page.locator(".code-line", { hasText: "dawn" }).waitFor();
    await page.getByRole("button", { name: "curl", exact: true }).click();
    const copied = await until(() => page.evaluate(() => navigator.clipboard.readText()), (seen) => seen !== "");
    assert(copied.includes(other.banner.url), copied);
    assertEqual(watched.reached, [], "other addresses");
  });
  await context.close();
  await other.stop();

  const closed = await new Refdesk(program, `${folder}/closed`, mount).start();
  const visitor = await openPage(visit.browser, desk.origin, {}, [new URL(closed.banner.url).origin]);
  await visit.report.check("page, another refdesk: one that does not allow the origin is not reached, and the page says what to do", async () => {
    await visitor.page.goto(desk.page());
    await point(visitor.page, closed.banner.url);
    await visitor.page.getByRole("button", { name: "Offline" }).click();
    await visitor.page.getByText(`must allow the origin ${desk.origin}`).waitFor();
    assertEqual(await visitor.page.locator(".tree-row").count(), 0, "rows of its tree");
  }, visitor.page);
  await visitor.context.close();
  await closed.stop();
}

/** @param {Visit} visit */
async function visitEverything(visit) {
  const port = await freePort();
  const server = await startServer([process.execPath, EVERYTHING, "streamableHttp"], `on port ${port}`, { PORT: String(port) });
  const { context, page } = await openAt(visit, `http://127.0.0.1:${port}/mcp`);
  const check = (/** @type {string} */ name, /** @type {() => Promise<unknown>} */ run) => visit.report.check(`page, server-everything: ${name}`, run, page);

  await check("its plain list is grouped by the segments of the URIs, and opens", async () => {
    await page.getByText("This server has no mounts.").waitFor();
    await treeRow(page, "demo://resource").locator(".twisty").click();
    await treeRow(page, "static").locator(".twisty").click();
    await treeRow(page, "document").locator(".twisty").click();
    await treeRow(page, "features.md").locator(".row-name").click();
    await page.locator(".preview-body").getByText("Everything Server", { exact: false }).first().waitFor();
    assertEqual(await page.getByRole("navigation", { name: "Path" }).locator("li").allInnerTexts(), ["demo://resource", "static", "document", "features.md"], "the way");
    await page.locator(".details dd", { hasText: "text/markdown" }).waitFor();
  });

  await check("a group is a list", async () => {
    await page.getByRole("navigation", { name: "Path" }).getByRole("link", { name: "document" }).click();
    await page.locator(".list-row", { hasText: "architecture.md" }).waitFor();
  });

  await check("a search finds names, and says that it does", async () => {
    await page.getByRole("searchbox", { name: "Search", exact: true }).fill("architec");
    await page.locator(".hit", { hasText: "architecture.md" }).waitFor();
    await page.getByText("This server has no search").waitFor();
    assertEqual(await page.locator(".hit").count(), 1, "hits");
  });

  await check("a template opens", async () => {
    await show(page, "#templates");
    await page.locator(".component-list a", { hasText: "demo://resource/dynamic/text/" }).click();
    await page.locator(".form-row input").fill("3");
    await page.getByRole("button", { name: "Open" }).click();
    await page.locator(".preview-body", { hasText: "Resource 3" }).waitFor();
  });

  await check("a tool asks back, and gets the answer", async () => {
    await show(page, "#tools/trigger-elicitation-request");
    await page.getByRole("button", { name: "Run" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("String (required)").fill("Ada");
    await dialog.getByRole("button", { name: "Send" }).click();
    await page.locator(".result", { hasText: "Name: Ada" }).waitFor();
  });

  await check("a resource that appears is in the tree without a load, marked", async () => {
    await show(page, "#tools/gzip-file-as-resource");
    await page.getByRole("textbox", { name: "name" }).fill("new.gz");
    await page.getByRole("textbox", { name: "data" }).fill("data:text/plain,hello");
    await page.getByRole("button", { name: "Run" }).click();
    await page.locator(".result a[href$=\"demo://resource/session/new.gz\"]").waitFor();
    await treeRow(page, "session").locator(".twisty").click();
    await treeRow(page, "new.gz").and(page.locator(".changed")).waitFor();
  });
  await context.close();
  await server.stop();
}

/** refdesk behind a proxy that refuses `initialize`: a server of 2026-07-28 alone. @param {Visit} visit */
async function visitStatelessRefdesk(visit) {
  const { program, folder } = visit;
  const handbook = writeHandbook(`${folder}/stateless`);
  const settings = handbookSettings(handbook) + upstreamSettings("asking", [python, "-B", `${servers}/asking.py`]);
  const other = await new Refdesk(program, `${folder}/stateless-desk`, settings).start();
  let proxy = await serveProxy(other.banner.url, ["initialize"]);
  const { context, page } = await openAt(visit, proxy.url);
  const check = (/** @type {string} */ name, /** @type {() => Promise<unknown>} */ run) => visit.report.check(`page, 2026-07-28 alone: ${name}`, run, page);

  await check("the page opens it without a session, and browses", async () => {
    await page.locator(".server-line", { hasText: "MCP 2026-07-28" }).waitFor();
    await treeRow(page, "handbook").locator(".twisty").click();
    await treeRow(page, "docs").locator(".twisty").click();
    // Its name needs an encoding in a header.
    await treeRow(page, "設計.md").locator(".row-name").click();
    await page.frameLocator("iframe.frame").getByRole("heading", { name: "鍵の更新" }).waitFor();
  });

  await check("changes of lists and of a text are told", async () => {
    await show(page, "#/file:///handbook/data");
    await page.locator(".list-row", { hasText: "people.csv" }).waitFor();
    await isWatched(other, "file:///handbook/data");
    writeFileSync(join(handbook, "data/late.txt"), "first\n");
    await page.locator(".list-row", { hasText: "late.txt" }).locator(".change-dot").waitFor();
    await page.locator(".list-row", { hasText: "late.txt" }).locator(".row-name").click();
    await page.locator(".code-line", { hasText: "first" }).waitFor();
    await isWatched(other, "file:///handbook/data/late.txt");
    writeFileSync(join(handbook, "data/late.txt"), "second\n");
    await page.locator(".code-line", { hasText: "second" }).waitFor();
  });

  await check("a tool asks back, and gets the answer", async () => {
    await show(page, "#tools/asking_book_table");
    await page.locator(".component-body input").fill("3");
    await page.getByRole("button", { name: "Run" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Your name").fill("Grace");
    await dialog.getByRole("button", { name: "Send" }).click();
    await page.locator(".result", { hasText: "A table for 3 inside, for Grace." }).waitFor();
  });

  await check("after a break the page connects again, and changes are told again", async () => {
    proxy.stop();
    await page.locator("button.state.offline").waitFor();
    proxy = await serveProxy(other.banner.url, ["initialize"], Number(new URL(proxy.url).port));
    await page.locator("button.state.ready").waitFor();
    await show(page, "#/file:///handbook/data/late.txt");
    await page.locator(".code-line", { hasText: "second" }).waitFor();
    await isWatched(other, "file:///handbook/data/late.txt");
    writeFileSync(join(handbook, "data/late.txt"), "third\n");
    await page.locator(".code-line", { hasText: "third" }).waitFor();
  });
  await context.close();
  proxy.stop();
  await other.stop();
}

/** Waits until a refdesk counts a subscription. @param {Refdesk} desk @param {string} uri */
async function isWatched(desk, uri) {
  const meta = { "io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientInfo": { name: "check", version: "1" }, "io.modelcontextprotocol/clientCapabilities": {} };
  const params = { uri: "refdesk://subscriptions", _meta: meta };
  const headers = { "content-type": "application/json", accept: "application/json, text/event-stream", "mcp-protocol-version": "2026-07-28", "mcp-method": "resources/read", "mcp-name": params.uri };
  const read = async () => (await fetch(desk.banner.url, { method: "POST", headers, body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "resources/read", params }) })).text();
  await until(read, (text) => text.includes(uri));
}

/** The TypeScript SDK without its older revisions. @param {Visit} visit */
async function visitStatelessOther(visit) {
  const port = await freePort();
  const server = await startServer([process.execPath, `${servers}/typescript_2.mjs`, `${build}/typescript-2-server`, String(port), "stateless"], `:${port}/mcp`);
  const proxy = await serveProxy(`http://127.0.0.1:${port}/mcp`);
  const { context, page } = await openAt(visit, proxy.url);
  const check = (/** @type {string} */ name, /** @type {() => Promise<unknown>} */ run) => visit.report.check(`page, TypeScript SDK of 2026-07-28 alone: ${name}`, run, page);
  await check("its resources, tools and prompts work", async () => {
    await page.locator(".server-line", { hasText: "MCP 2026-07-28" }).waitFor();
    await page.getByRole("link", { name: "note://one" }).click();
    await page.locator(".list-row", { hasText: "one" }).click();
    await page.locator(".code-line", { hasText: "one note" }).waitFor();
    await show(page, "#tools/echo");
    await page.getByLabel("message").fill("héllo");
    await page.getByRole("button", { name: "Run" }).click();
    await page.locator(".result", { hasText: "Echo: héllo" }).waitFor();
    await show(page, "#prompts/greet");
    await page.locator(".component-body input").fill("Ada");
    await page.getByRole("button", { name: "Get the prompt" }).click();
    await page.locator(".message", { hasText: "Say hello to Ada." }).waitFor();
  });
  await context.close();
  proxy.stop();
  await server.stop();
}
