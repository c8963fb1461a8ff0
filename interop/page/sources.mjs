// The page's files, before a browser runs them: their types, and the same messages in each language.

import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { build, here } from "./modules.mjs";
import { assertEqual } from "./report.mjs";

const EXPLORER = process.env.EXPLORER ?? join(here, "../../explorer");
const TSC = join(build, "tsc/node_modules/typescript/bin/tsc");

/** @param {{ report: import("./report.mjs").Report }} suite */
export async function checkSources({ report }) {
  await report.check("page, sources: the types are right", async () => {
    const run = promisify(execFile)(process.execPath, [TSC, "--noEmit", "--project", EXPLORER]);
    await run.catch(({ stdout, stderr }) => Promise.reject(new Error(`${stdout}${stderr}`)));
  });

  await report.check("page, sources: English and Japanese have the same messages, with the same values, and all are used", async () => {
    const [en, ja] = await Promise.all(["en", "ja"].map(messages));
    assertEqual(Object.keys(ja), Object.keys(en), "the names");
    const values = (/** @type {string} */ text) => [...text.matchAll(/\{(\w+)\}/g)].map(([, name]) => name).sort();
    const differing = Object.keys(en).filter((name) => values(en[name]).join() !== values(ja[name]).join());
    assertEqual(differing, [], "messages whose values differ");
    assertEqual(Object.keys(en).filter((name) => !en[name].trim() || !ja[name].trim()), [], "empty messages");
    const scripts = readdirSync(EXPLORER).filter((file) => file.endsWith(".js") && !file.startsWith("strings."));
    const text = scripts.map((file) => readFileSync(join(EXPLORER, file), "utf8")).join("\n");
    assertEqual(Object.keys(en).filter((name) => !text.includes(`"${name}"`)), [], "messages that nothing shows");
    return `${Object.keys(en).length} messages`;
  });
}

/** @param {string} language @returns {Promise<Record<string, string>>} */
async function messages(language) {
  const source = readFileSync(join(EXPLORER, `strings.${language}.js`));
  // The file has no package.json beside it that would make it a module.
  return (await import(`data:text/javascript;base64,${source.toString("base64")}`)).default;
}
