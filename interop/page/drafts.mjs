// The page's files from a folder in front of a refdesk, so that a change of them is tried without a build: `EXPLORER=FOLDER`.

import { existsSync, readFileSync } from "node:fs";
import { createServer, request } from "node:http";
import { basename, join } from "node:path";

/**
 * @param {string} folder
 * @param {string} target the origin of refdesk
 * @returns {Promise<{ origin: string }>}
 */
export function serveDrafts(folder, target) {
  const server = createServer((incoming, response) => {
    const { pathname, search } = new URL(incoming.url ?? "/", target);
    // refdesk does not know a new script yet, and answers for it as for any other.
    const path = /^\/explorer\/\w+\.js$/.test(pathname) && existsSync(join(folder, basename(pathname))) ? "/explorer/app.js" : pathname;
    const outgoing = request(target + path + search, { method: incoming.method, headers: incoming.headers }, (answer) => {
      const isFile = answer.statusCode === 200 && (pathname === "/" || pathname.startsWith("/explorer/"));
      if (!isFile) return void answer.pipe(response.writeHead(answer.statusCode ?? 500, answer.headers));
      const body = readFileSync(join(folder, pathname === "/" ? "index.html" : basename(pathname)));
      response.writeHead(200, { ...answer.headers, "content-length": body.length }).end(body);
      answer.resume();
    });
    outgoing.on("error", () => response.destroy());
    response.on("close", () => outgoing.destroy());
    incoming.pipe(outgoing);
  });
  server.unref();
  return new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () => resolve({ origin: `http://127.0.0.1:${/** @type {any} */ (server.address()).port}` }));
  });
}
