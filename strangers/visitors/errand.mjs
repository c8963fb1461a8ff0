// The requests of the TypeScript clients, shared by both SDK generations; results use wire names.

import { createRequire } from "node:module";

export const ERRAND = JSON.parse(process.argv[2]);

/** Loads a package from the client's install folder, which is the working directory. */
export const installed = createRequire(`${process.cwd()}/`);

/** Runs one step and catches its failure, so that the other steps still run. */
export async function attempt(step) {
  try {
    return { gave: await step() };
  } catch (error) {
    return { failed: `${error.name}: ${error.message}` };
  }
}

/** The steps. Each SDK generation implements listing a page, expanding a template and reading an error. */
export async function report(client, { revision, listPage, expand, refusalIn = (error) => error }) {
  const contents = async (uri) => (await client.readResource({ uri })).contents;

  async function walk() {
    const pages = [];
    let cursor;
    do {
      const page = await listPage(cursor);
      pages.push(page.resources.map((resource) => resource.uri));
      cursor = page.nextCursor;
    } while (cursor !== undefined);
    return pages;
  }

  async function templates() {
    const listed = await client.listResourceTemplates();
    return listed.resourceTemplates.map((template) => template.uriTemplate);
  }

  async function completed({ template, name, value }) {
    const ref = { type: "ref/resource", uri: template };
    return (await client.complete({ ref, argument: { name, value } })).completion;
  }

  async function missing() {
    let found;
    try {
      found = await contents(ERRAND.missing);
    } catch (error) {
      const { code, data } = refusalIn(error);
      return { code, data };
    }
    throw new Error(`read a missing resource: ${JSON.stringify(found)}`);
  }

  // The SDK has listed the tools by then, so it validates results against their schemas.
  async function called() {
    const outcomes = [];
    let handle;
    for (const { name, arguments: given, handled } of ERRAND.call) {
      const outcome = await attempt(() => client.callTool({ name, arguments: handled ? { ...given, handle } : given }));
      handle = outcome.gave?.structuredContent?.handle ?? handle;
      outcomes.push(outcome);
    }
    return outcomes;
  }

  const outcome = { revision: { gave: revision }, pages: await attempt(walk), contents: {}, completed: [] };
  for (const uri of ERRAND.read) outcome.contents[uri] = await attempt(() => contents(uri));
  outcome.templates = await attempt(templates);
  const { template, values } = ERRAND.expand;
  outcome.expanded = await attempt(() => contents(expand(template, values)));
  for (const ask of ERRAND.complete) outcome.completed.push(await attempt(() => completed(ask)));
  outcome.missing = await attempt(missing);
  outcome.tools = await attempt(async () => (await client.listTools()).tools.map((tool) => tool.name));
  outcome.called = await called();
  await client.close();
  console.log(JSON.stringify(outcome));
}
