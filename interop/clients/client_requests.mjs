// The requests of the TypeScript clients, shared by both SDK generations; results use wire names.

import { createRequire } from "node:module";

export const REQUESTS = JSON.parse(process.argv[2]);

/** Loads a package from the client's install folder, which is the working directory. */
export const requireInstalled = createRequire(`${process.cwd()}/`);

/** Runs one step and catches its failure, so that the other steps still run. */
export async function attempt(step) {
  try {
    return { result: await step() };
  } catch (error) {
    return { error: `${error.name}: ${error.message}` };
  }
}

/** Runs the steps and prints the outcome. Each SDK generation implements `listPage`, `expand` and `rpcErrorOf`. */
export async function reportRequests(client, { revision, listPage, expand, rpcErrorOf = (error) => error }) {
  const readContents = async (uri) => (await client.readResource({ uri })).contents;

  async function listPages() {
    const pages = [];
    let cursor;
    do {
      const page = await listPage(cursor);
      pages.push(page.resources.map((resource) => resource.uri));
      cursor = page.nextCursor;
    } while (cursor !== undefined);
    return pages;
  }

  async function listTemplates() {
    const { resourceTemplates } = await client.listResourceTemplates();
    return resourceTemplates.map((template) => template.uriTemplate);
  }

  async function complete({ template, name, value }) {
    const ref = { type: "ref/resource", uri: template };
    return (await client.complete({ ref, argument: { name, value } })).completion;
  }

  async function readMissing() {
    let contents;
    try {
      contents = await readContents(REQUESTS.missing);
    } catch (error) {
      const { code, data } = rpcErrorOf(error);
      return { code, data };
    }
    throw new Error(`read a missing resource: ${JSON.stringify(contents)}`);
  }

  // The SDK has listed the tools by then, so it validates results against their schemas.
  async function callTools() {
    const outcomes = [];
    let handle;
    for (const request of REQUESTS.call) {
      const args = request.needs_handle ? { ...request.arguments, handle } : request.arguments;
      const outcome = await attempt(() => client.callTool({ name: request.name, arguments: args }));
      handle = outcome.result?.structuredContent?.handle ?? handle;
      outcomes.push(outcome);
    }
    return outcomes;
  }

  const outcome = { revision: { result: revision }, pages: await attempt(listPages), contents: {}, completions: [] };
  for (const uri of REQUESTS.read) outcome.contents[uri] = await attempt(() => readContents(uri));
  outcome.templates = await attempt(listTemplates);
  const { template, values } = REQUESTS.expand;
  outcome.expanded = await attempt(() => readContents(expand(template, values)));
  for (const request of REQUESTS.complete) outcome.completions.push(await attempt(() => complete(request)));
  outcome.missing = await attempt(readMissing);
  outcome.tools = await attempt(async () => (await client.listTools()).tools.map((tool) => tool.name));
  outcome.tool_results = await callTools();
  await client.close();
  console.log(JSON.stringify(outcome));
}
