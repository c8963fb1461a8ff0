// Counts the tokens of texts with the vocabulary of o200k_base: a JSON text a line in, a number a line out.
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const folder = pathToFileURL(`${process.argv[2]}/`);
const { countTokens } = await import(new URL("node_modules/gpt-tokenizer/esm/encoding/o200k_base.js", folder));
// Text is text: what looks like a special token is counted by its letters.
const options = { disallowedSpecial: new Set() };
for await (const line of createInterface({ input: process.stdin })) {
  console.log(countTokens(JSON.parse(line), options));
}
