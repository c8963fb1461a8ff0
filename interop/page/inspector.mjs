// The MCP Inspector's page on a server: the same figures as of our page, as far as it shows the list.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { heap, name, scrollThrough } from "./crowd.mjs";
import { build } from "./modules.mjs";
import { freePort, startServer } from "./refdesk.mjs";
import { until } from "./report.mjs";

const LAUNCHER = join(build, "inspector/node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js");
const TOKEN = "comparison";

/** How long it may load, in milliseconds: a bound, not a measure. */
const LOAD_LIMIT = 240_000;

/**
 * @param {import("playwright-core").Browser} browser
 * @param {import("./refdesk.mjs").Refdesk} desk
 * @param {number} total resources
 * @returns {Promise<import("./crowd.mjs").Figures>}
 */
export async function measureInspector(browser, desk, total) {
  const home = mkdtempSync(join(tmpdir(), "inspector-"));
  const port = await freePort();
  const env = { HOME: home, CLIENT_PORT: String(port), MCP_AUTO_OPEN_ENABLED: "false", MCP_INSPECTOR_API_TOKEN: TOKEN, MCP_INSPECTOR_SECRET_STORE: "memory" };
  const server = await startServer([process.execPath, LAUNCHER, "--web", "--transport", "http", "--server-url", desk.banner.url], "up and running", env);
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  try {
    const page = await context.newPage();
    await page.goto(`http://127.0.0.1:${port}/?MCP_INSPECTOR_API_TOKEN=${TOKEN}`);
    const connect = page.getByRole("switch").or(page.locator("input[type=checkbox]")).first();
    await connect.waitFor({ state: "attached" });
    const started = Date.now();
    await connect.check({ force: true });
    await page.getByText("Resources", { exact: true }).first().click();
    const first = page.getByText(name(0)).first();
    const failure = page.getByText("exceeded listMaxPages");
    await first.or(failure).waitFor({ timeout: LOAD_LIMIT });
    const elements = () => page.evaluate(() => document.querySelectorAll("*").length);
    if (await failure.isVisible()) return { problem: "it stops after 64 pages of 100", elements: await elements(), heap: await heap(page) };
    const firstRows = Date.now() - started;
    await until(() => page.getByText(/^URIs \(\d+\)$/).innerText(), (text) => text === `URIs (${total})`, LOAD_LIMIT);
    const all = Date.now() - started;
    const frames = await page.locator(".mantine-Accordion-panel", { has: first }).evaluate(scrollThrough);
    return { first: firstRows, all, frames, elements: await elements(), heap: await heap(page) };
  } finally {
    await context.close();
    await server.stop();
    rmSync(home, { recursive: true, force: true });
  }
}
