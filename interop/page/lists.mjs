// Lists that change while the page shows them, and lists of servers that never end.

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openPage } from "./browser.mjs";
import { openAt } from "./elsewhere.mjs";
import { handbookSettings, writeHandbook } from "./handbook.mjs";
import { listRow, treeRow } from "./hands.mjs";
import { PlainServer } from "./plain_server.mjs";
import { Refdesk } from "./refdesk.mjs";
import { assert, assertEqual, until } from "./report.mjs";

/** Files in a folder that takes several pages. */
const MANY = 3000;

/** Requests for one list that a server without an end may get. */
const MAX_REQUESTS = 200;

/** @param {import("./main.mjs").Suite} suite */
export async function checkLists({ program, folder, browser, report }) {
  const settings = handbookSettings(writeHandbook(folder));
  const desk = await new Refdesk(program, `${folder}/desk`, settings).start();
  await checkChanges({ browser, desk, report });
  await checkManyRows({ program, folder, browser, report });
  await checkMounts({ program, folder, browser, report });
  await checkEndless({ browser, desk, report });
  await desk.stop();
}

/** A server without collections whose lists change. */
async function checkChanges({ browser, desk, report }) {
  const lists = {
    resources: [resource("note://box/one.txt")],
    tools: [tool("first")],
    prompts: [{ name: "hello" }],
    templates: [{ uriTemplate: "note://{id}", name: "note" }],
  };
  const listChanged = { listChanged: true };
  const server = await new PlainServer(
    {
      "resources/list": () => ({ resources: lists.resources }),
      "resources/templates/list": () => ({ resourceTemplates: lists.templates }),
      "tools/list": () => ({ tools: lists.tools }),
      "prompts/list": () => ({ prompts: lists.prompts }),
    },
    { resources: listChanged, tools: listChanged, prompts: listChanged },
  ).start();
  const { context, page } = await openAt({ browser, desk }, server.url);
  const check = (/** @type {string} */ name, /** @type {() => Promise<unknown>} */ run) => report.check(`page, lists: ${name}`, run, page);
  const goTo = (/** @type {string} */ hash) => page.evaluate((place) => void (location.hash = place), hash);
  const names = () => page.locator(".component-list .mono").allInnerTexts();

  await check("a tool that comes is in the list, and the form beside it keeps what was typed", async () => {
    await until(() => server.listeners, (count) => count > 0);
    await goTo("#tools/first");
    await page.getByLabel("text").fill("half a word");
    lists.tools = [tool("first"), tool("second")];
    server.notify("notifications/tools/list_changed");
    await until(names, (seen) => seen.join() === "first,second");
    assertEqual(await page.getByLabel("text").inputValue(), "half a word", "the form");
  });

  await check("a tool that changes has a new form, and one that goes has none", async () => {
    lists.tools = [tool("first", "other"), tool("second")];
    server.notify("notifications/tools/list_changed");
    await page.getByLabel("other").waitFor();
    lists.tools = [tool("second")];
    server.notify("notifications/tools/list_changed");
    await page.getByText("There is no “first” here.").waitFor();
    assertEqual(await names(), ["second"], "the tools");
  });

  await check("prompts come and go", async () => {
    await goTo("#prompts");
    await until(names, (seen) => seen.join() === "hello");
    lists.prompts = [{ name: "hello" }, { name: "goodbye" }];
    server.notify("notifications/prompts/list_changed");
    await until(names, (seen) => seen.join() === "hello,goodbye");
  });

  await check("templates come with the resources", async () => {
    await goTo("#templates");
    await until(names, (seen) => seen.join() === "note://{id}");
    lists.templates = [...lists.templates, { uriTemplate: "memo://{id}", name: "memo" }];
    server.notify("notifications/resources/list_changed");
    await until(names, (seen) => seen.join() === "note://{id},memo://{id}");
  });

  await check("resources of a server without collections come and go in the tree and in a list, where they are shown", async () => {
    await goTo("#/group:note://box");
    await listRow(page, "one.txt").waitFor();
    await treeRow(page, "note://box").locator(".twisty").click();
    await treeRow(page, "one.txt").waitFor();
    lists.resources = [resource("note://box/one.txt"), resource("note://box/two.txt"), resource("memo://three")];
    server.notify("notifications/resources/list_changed");
    await listRow(page, "two.txt").locator(".change-dot").waitFor();
    await treeRow(page, "two.txt").waitFor();
    await treeRow(page, "memo://three").waitFor();
    lists.resources = [resource("memo://three")];
    server.notify("notifications/resources/list_changed");
    await listRow(page, "one.txt").waitFor({ state: "detached" });
    await treeRow(page, "note://box").waitFor({ state: "detached" });
  });
  await context.close();
  server.stop();
}

/** A folder of several pages loads itself again. */
async function checkManyRows({ program, folder, browser, report }) {
  const many = join(folder, "many");
  mkdirSync(many, { recursive: true });
  for (let at = 0; at < MANY; at += 1) writeFileSync(join(many, `file-${String(at).padStart(4, "0")}.txt`), "");
  const desk = await new Refdesk(program, `${folder}/many-desk`, `[mounts.many]\nkind = "fs"\npath = ${JSON.stringify(many)}\nindex = false\n`).start();
  const { context, page } = await openPage(browser, desk.origin);
  await report.check(`page, lists: a folder of ${MANY} files loads itself again when one more comes`, async () => {
    await page.goto(desk.page("#/file:///many/"));
    await page.getByText("3,000 resources").waitFor();
    await until(() => page.evaluate(() => globalThis.refdesk.api.readJson("refdesk://subscriptions")), (told) => JSON.stringify(told).includes("file:///many/"));
    writeFileSync(join(many, "added.txt"), "");
    await page.getByText("3,001 resources").waitFor();
    await listRow(page, "added.txt").locator(".change-dot").waitFor();
  }, page);
  await context.close();
  await desk.stop();
}

/** A mount that comes while a resource is shown. */
async function checkMounts({ program, folder, browser, report }) {
  const handbook = join(folder, "handbook");
  const desk = await new Refdesk(program, `${folder}/mounts-desk`, handbookSettings(handbook)).start();
  const { context, page } = await openPage(browser, desk.origin);
  await report.check("page, lists: a new mount is in the tree, wherever the page is", async () => {
    await page.goto(desk.page("#/file:///handbook/notes.txt"));
    await treeRow(page, "notes.txt").waitFor();
    await until(() => page.evaluate(() => globalThis.refdesk.api.readJson("refdesk://subscriptions")), (told) => JSON.stringify(told).includes("refdesk://mounts"));
    writeFileSync(desk.settings, `${handbookSettings(handbook)}\n[mounts.drafts]\nkind = "fs"\npath = ${JSON.stringify(join(handbook, "docs"))}\n`);
    await treeRow(page, "drafts").waitFor();
    assertEqual(await treeRow(page, "notes.txt").count(), 1, "rows of what was open");
  }, page);
  await context.close();
  await desk.stop();
}

/** Servers whose lists have no end: the page stops, says so, and goes on with what it has. */
async function checkEndless({ browser, desk, report }) {
  let count = 0;
  /** What a list may answer for ever. @type {Record<string, (rows: any[], params: any) => any>} */
  const endless = {
    "pages without rows": () => [[], `next-${(count += 1)}`],
    "the same page again": (rows) => [rows, "again"],
    "pages in a circle": (rows, { cursor = "0" }) => [rows, String((Number(cursor) + 1) % 7)],
    "a cursor of a megabyte": (rows) => [rows, "x".repeat(1_000_000) + (count += 1)],
  };
  for (const [how, page] of Object.entries(endless)) {
    const list = (/** @type {string} */ member, /** @type {any[]} */ rows) => (/** @type {any} */ params) => {
      const [items, nextCursor] = page(rows, params);
      return { [member]: items, nextCursor };
    };
    const answers = {
      "resources/list": list("resources", [resource("note://box/one.txt")]),
      "resources/templates/list": list("resourceTemplates", [{ uriTemplate: "note://{id}", name: "note" }]),
      "tools/list": list("tools", [tool("first")]),
      "prompts/list": list("prompts", [{ name: "hello" }]),
    };
    for (const hasMounts of [false, true]) {
      const extension = hasMounts ? { experimental: { "dev.refdesk/resource-metadata": { scopedList: true } } } : {};
      await checkEndlessServer(`${how}${hasMounts ? ", of mounts too" : ""}`, answers, { resources: {}, tools: {}, prompts: {}, ...extension }, { browser, desk, report });
    }
  }
}

async function checkEndlessServer(how, answers, capabilities, { browser, desk, report }) {
  const server = await new PlainServer(answers, capabilities).start();
  const { context, page } = await openAt({ browser, desk }, server.url);
  await report.check(`page, lists without end: ${how}`, async () => {
    if (!capabilities.experimental) await page.locator(".home .problem", { hasText: "without end" }).waitFor();
    else await page.locator(".tree-row").first().waitFor();
    for (const view of ["tools", "prompts", "templates"]) {
      await page.evaluate((place) => void (location.hash = place), `#${view}`);
      await until(() => page.locator(".component-list").innerText(), (text) => text !== "Loading…");
    }
    // The page is alive, and asks no more.
    await page.evaluate(() => void (location.hash = "#search?q=one"));
    await page.locator(".search-status", { hasText: /passage|no search/ }).waitFor();
    await until(() => page.evaluate(() => globalThis.refdesk.client.state), (state) => state === "ready");
    const most = Math.max(...Object.values(server.asked));
    assert(most <= MAX_REQUESTS * 2, JSON.stringify(server.asked));
    return `at most ${most} requests for a list`;
  }, page);
  await context.close();
  server.stop();
}

/** @param {string} uri */
function resource(uri) {
  return { uri, name: uri.slice(uri.lastIndexOf("/") + 1), mimeType: "text/plain" };
}

/** @param {string} name @param {string} [argument] */
function tool(name, argument = "text") {
  return { name, inputSchema: { type: "object", properties: { [argument]: { type: "string" } } } };
}
