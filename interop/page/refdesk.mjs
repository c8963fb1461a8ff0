// Starts and stops refdesk, each with a state folder of its own, and other servers.

import { spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { serveDrafts } from "./drafts.mjs";

const START_LIMIT = 60_000;
const STOP_LIMIT = 10_000;
const KEPT_LINES = 40;

/** A port that is free now. @param {string} [address] */
export function freePort(address = "127.0.0.1") {
  return new Promise((resolve, reject) => {
    const server = createServer().on("error", reject);
    server.listen(0, address, () => {
      const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
      server.close(() => resolve(port));
    });
  });
}

export class Refdesk {
  /** @type {import("node:child_process").ChildProcess | null} */
  #child = null;
  #output = [];
  /** @type {{ origin: string } | null} */
  #drafts = null;
  /** What it prints at its start. @type {any} */
  banner = {};

  /**
   * @param {string} program
   * @param {string} folder for its state and settings
   * @param {string} settings TOML
   * @param {{ address?: string, port?: number, options?: string[] }} [options]
   */
  constructor(program, folder, settings, { address = "127.0.0.1", port = 0, options = [] } = {}) {
    mkdirSync(folder, { recursive: true });
    this.program = program;
    this.folder = folder;
    this.settings = join(folder, "refdesk.toml");
    writeFileSync(this.settings, settings);
    this.listen = `${address}:${port}`;
    this.options = options;
  }

  /** Starts it and waits for its banner. */
  async start() {
    const command = ["serve", "--json", "--settings", this.settings, "--listen", this.listen, ...this.options];
    const env = { ...process.env, HOME: this.folder, XDG_STATE_HOME: join(this.folder, "state"), XDG_CACHE_HOME: join(this.folder, "cache"), REFDESK_START_WAIT: "60s" };
    const child = spawn(this.program, command, { env, cwd: this.folder, stdio: ["ignore", "pipe", "pipe"] });
    this.#child = child;
    running.add(this);
    this.#keep(child.stderr);
    this.banner = await new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`refdesk printed no banner:\n${this.#output.join("\n")}`)), START_LIMIT);
      createInterface({ input: child.stdout }).on("line", (line) => {
        clearTimeout(timer);
        resolve(JSON.parse(line));
      });
      child.once("exit", (code) => reject(new Error(`refdesk ended with ${code}:\n${this.#output.join("\n")}`)));
    });
    if (process.env.EXPLORER) this.#drafts ??= await serveDrafts(process.env.EXPLORER, new URL(this.banner.url).origin);
    return this;
  }

  /** @param {import("node:stream").Readable} stream */
  #keep(stream) {
    createInterface({ input: stream }).on("line", (line) => {
      this.#output.push(line);
      if (this.#output.length > KEPT_LINES) this.#output.shift();
    });
  }

  /** The origin of its page. */
  get origin() {
    return this.#drafts?.origin ?? new URL(this.banner.url).origin;
  }

  /** The address of the page, and of a place in it. @param {string} [hash] */
  page(hash = "") {
    return `${this.origin}/${hash}`;
  }

  async stop() {
    const child = this.#child;
    this.#child = null;
    running.delete(this);
    if (child) await end(child);
  }
}

/** Ends a process, and waits for its end. @param {import("node:child_process").ChildProcess} child */
async function end(child) {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((resolve) => child.once("exit", resolve));
  child.kill("SIGTERM");
  const timer = setTimeout(() => child.kill("SIGKILL"), STOP_LIMIT);
  await ended;
  clearTimeout(timer);
}

/**
 * Starts another server, and waits until it prints `ready`.
 * @param {string[]} command
 * @param {string} ready
 * @param {Record<string, string>} [env]
 */
export async function startServer([program, ...options], ready, env = {}) {
  const child = spawn(program, options, { env: { ...process.env, ...env }, stdio: ["ignore", "pipe", "pipe"] });
  const server = { stop: () => (running.delete(server), end(child)) };
  running.add(server);
  await new Promise((resolve, reject) => {
    let output = "";
    const timer = setTimeout(() => reject(new Error(`${program} did not print ${ready}:\n${output}`)), START_LIMIT);
    const read = (/** @type {Buffer} */ data) => {
      if (output.includes(ready)) return;
      output += data;
      if (!output.includes(ready)) return;
      clearTimeout(timer);
      resolve(undefined);
    };
    child.stdout.on("data", read);
    child.stderr.on("data", read);
    child.once("exit", (code) => reject(new Error(`${program} ended with ${code}:\n${output}`)));
  });
  return server;
}

/** What runs now. @type {Set<{ stop: () => Promise<void> }>} */
const running = new Set();

export async function stopAll() {
  await Promise.all([...running].map((one) => one.stop()));
}
