// The MCP Inspector's page on a server, measured for a while: it has no bound of its own.

import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { heap } from "./crowd.mjs";
import { build } from "./modules.mjs";
import { freePort } from "./refdesk.mjs";
import { until } from "./report.mjs";

const LAUNCHER = join(build, "inspector/node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js");
const TOKEN = "comparison";
const START_LIMIT = 60_000;

/** How long it may load, in milliseconds: all of it would take hours. */
const MEASURED = 30_000;

/** Resources on one page of a list. */
const PAGE_SIZE = 100;

/**
 * Lets the Inspector load the resources of a server for half a minute. Returns how far it got.
 * @param {import("playwright-core").Browser} browser
 * @param {import("./refdesk.mjs").Refdesk} desk
 * @param {number} total resources
 */
export async function measureInspector(browser, desk, total) {
  const home = mkdtempSync(join(tmpdir(), "inspector-"));
  const port = await freePort();
  const env = { ...process.env, HOME: home, CLIENT_PORT: String(port), MCP_AUTO_OPEN_ENABLED: "false", MCP_INSPECTOR_API_TOKEN: TOKEN, MCP_INSPECTOR_SECRET_STORE: "memory" };
  const child = spawn(process.execPath, [LAUNCHER, "--web", "--transport", "http", "--server-url", desk.banner.url], { env, stdio: ["ignore", "pipe", "ignore"] });
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  try {
    let output = "";
    child.stdout.on("data", (data) => (output += data));
    await until(() => output, (text) => text.includes("up and running"), START_LIMIT);
    const page = await context.newPage();
    let pages = 0;
    page.on("request", (request) => (pages += Number(/"resources\/list"/.test(request.postData() ?? ""))));
    await page.goto(`http://127.0.0.1:${port}/?MCP_INSPECTOR_API_TOKEN=${TOKEN}`);
    await page.getByRole("switch").or(page.locator("input[type=checkbox]")).first().check({ force: true });
    await until(() => pages, (count) => count > 0, START_LIMIT);
    await until(() => pages, (count) => count >= total / PAGE_SIZE, MEASURED).catch(() => {});
    const bytes = await heap(page);
    return `${pages} pages of 100 in ${MEASURED / 1000} s, ${Math.round(bytes / 1e6)} MB`;
  } finally {
    await context.close();
    const ended = new Promise((resolve) => child.once("exit", resolve));
    child.kill();
    await ended;
    rmSync(home, { recursive: true, force: true });
  }
}
