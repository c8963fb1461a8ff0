// Who gets the page: no page of another origin, nobody without a token beyond loopback, nobody where it is off.

import { createServer } from "node:http";
import { openPage } from "./browser.mjs";
import { handbookSettings, writeHandbook } from "./handbook.mjs";
import { Refdesk } from "./refdesk.mjs";
import { assert, assertEqual, until } from "./report.mjs";

/** @param {import("./main.mjs").Suite} suite */
export async function checkGuards({ program, folder, browser, report }) {
  const settings = handbookSettings(writeHandbook(folder));
  const check = (/** @type {string} */ name, /** @type {() => Promise<unknown>} */ run) => report.check(`page, guards: ${name}`, run);
  await checkOrigins({ program, folder, browser, settings, check });
  await checkToken({ program, folder, browser, settings, check });

  await check("--no-page gives 404 for the page and its files, and keeps the endpoint", async () => {
    const desk = await new Refdesk(program, `${folder}/off`, settings, { options: ["--no-page"] }).start();
    const statuses = await Promise.all(["/", "/explorer/app.js", "/explorer/frame.css"].map((path) => status(desk.origin + path)));
    assertEqual(statuses, [404, 404, 404]);
    assertEqual(await status(`${desk.origin}/health`), 200, "the health of the server");
    await desk.stop();
  });
}

/** @typedef {{ program: string, folder: string, browser: import("playwright-core").Browser, settings: string, check: (name: string, run: () => Promise<unknown>) => Promise<void> }} Guard */

/** @param {Guard} guard */
async function checkOrigins({ program, folder, browser, settings, check }) {
  const desk = await new Refdesk(program, `${folder}/origins`, settings).start();
  for (const [what, address] of [["another host", "127.0.0.2"], ["another port of this machine", "127.0.0.1"]]) {
    await check(`a page of ${what} reads nothing, and cannot frame the page or take its scripts`, async () => {
      const other = await serveBlank(address);
      const context = await browser.newContext();
      const page = await context.newPage();
      await page.goto(other.origin);
      const seen = await page.evaluate(tryToRead, desk.origin);
      const framed = await until(() => page.frames().map((frame) => frame.url()), (urls) => urls.length === 2 && urls[1] !== "");
      await context.close();
      other.server.close();
      assertEqual([seen.script, framed[1]], ["refused", "chrome-error://chromewebdata/"], "a script and a frame");
      assertEqual([seen.endpoint, ...seen.files], ["refused", "refused", "refused", "refused"], "the endpoint and files");
    });
  }
  await check("the page opens no window of another origin that could reach back", async () => {
    const response = await fetch(desk.page());
    const header = (/** @type {string} */ name) => response.headers.get(name) ?? "";
    assertEqual([header("cross-origin-opener-policy"), header("x-frame-options"), header("referrer-policy"), header("x-content-type-options")], ["same-origin", "DENY", "no-referrer", "nosniff"]);
    const policy = header("content-security-policy");
    assert(/default-src 'none'/.test(policy) && /script-src 'self'(;|$)/.test(policy) && !/unsafe/.test(policy), policy);
  });
  await desk.stop();
}

/** Runs in a page of another origin: what it can get of refdesk. @param {string} origin */
async function tryToRead(origin) {
  const read = (/** @type {string} */ path, /** @type {RequestInit} */ init) => fetch(origin + path, init).then((response) => response.text(), () => "refused");
  const files = await Promise.all(["/", "/explorer/app.js", "/explorer/strings.en.js"].map((path) => read(path, {})));
  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "page", version: "1" } };
  const headers = { "Content-Type": "application/json", Accept: "application/json, text/event-stream" };
  const endpoint = await read("/mcp", { method: "POST", headers, body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params }) });
  const script = await new Promise((resolve) => {
    const element = Object.assign(document.createElement("script"), { src: `${origin}/explorer/strings.en.js`, onload: () => resolve("loaded"), onerror: () => resolve("refused") });
    document.body.append(element);
  });
  await new Promise((resolve) => {
    const frame = Object.assign(document.createElement("iframe"), { onload: resolve, onerror: resolve, src: `${origin}/` });
    document.body.append(frame);
  });
  return { files, endpoint, script };
}

/** @param {Guard} guard */
async function checkToken({ program, folder, browser, settings, check }) {
  const desk = await new Refdesk(program, `${folder}/token`, settings, { address: "0.0.0.0" }).start();
  const { token, page: withToken } = desk.banner;
  const origin = new URL(withToken).origin;
  await check("beyond loopback nothing comes without the token", async () => {
    const paths = ["/", "/explorer/app.js", "/explorer/strings.en.js", "/?token=rdk_wrong", "/mcp"];
    assertEqual(await Promise.all(paths.map((path) => status(origin + path))), [401, 401, 401, 401, 401]);
    const form = await (await fetch(origin)).text();
    assert(!form.includes("script") && !form.includes(token) && !form.includes("handbook"), form);
  });

  await check("beyond loopback a person enters the token and gets the page", async () => {
    const { context, page, watched } = await openPage(browser, origin);
    await page.goto(`${origin}/`);
    await page.getByLabel("Token").fill("rdk_wrong");
    await page.keyboard.press("Enter");
    await page.getByLabel("Token").fill(token);
    await page.keyboard.press("Enter");
    await page.locator(".card", { hasText: "handbook" }).first().waitFor();
    await until(() => page.url(), (url) => !url.includes("token"));
    await page.goto(`${origin}/#/file:///handbook/docs/signing.md`);
    await page.frameLocator("iframe.frame").getByRole("heading", { name: "Signing releases" }).waitFor();
    const size = await page.frameLocator("iframe.frame").locator("body").evaluate((body) => getComputedStyle(body).maxWidth);
    assert(size !== "none", "the frame has lost its style");
    assertEqual(watched.reached, [], "other addresses");
    await context.close();
  });

  await check("beyond loopback the cookie of the page opens no endpoint", async () => {
    const answer = await fetch(withToken);
    const cookie = (answer.headers.get("set-cookie") ?? "").split(";")[0];
    assert(cookie.startsWith("refdesk_page_"), `the cookie is ${cookie}`);
    assertEqual(await status(`${origin}/explorer/app.js`, { cookie }), 200, "a file with the cookie");
    assertEqual(await status(`${origin}/mcp`, { cookie }), 401, "the endpoint with the cookie");
  });
  await desk.stop();
}

/** @param {string} url @param {Record<string, string>} [headers] */
async function status(url, headers = {}) {
  const response = await fetch(url, { headers });
  await response.body?.cancel();
  return response.status;
}

/** Serves an empty page. @param {string} address @returns {Promise<{ server: import("node:http").Server, origin: string }>} */
function serveBlank(address) {
  const server = createServer((_, response) => response.setHeader("content-type", "text/html").end("<!doctype html><title>other</title><body>"));
  return new Promise((resolve) => {
    server.listen(0, address, () => resolve({ server, origin: `http://${address}:${/** @type {any} */ (server.address()).port}` }));
  });
}
