// Runs checks and prints each as a line of JSON, which suite.py reads.

/** How long one check may take, in milliseconds: a bound against hanging, not a measure. */
const CHECK_LIMIT = 120_000;

/** How much of the page a failure shows. */
const SEEN = 1200;

export class Report {
  failed = 0;

  /**
   * @param {string} name
   * @param {() => Promise<unknown>} run what it returns is printed behind the name
   * @param {import("playwright-core").Page} [page] what a failure shows
   * @param {number} [limit] milliseconds
   */
  async check(name, run, page, limit = CHECK_LIMIT) {
    const started = Date.now();
    let failure = null;
    let figures = "";
    try {
      figures = String((await bounded(run(), limit)) ?? "");
    } catch (error) {
      failure = [messageOf(error), page && (await seen(page))].filter(Boolean).join("\n");
      this.failed += 1;
    }
    const check = figures ? `${name}: ${figures}` : name;
    process.stdout.write(`${JSON.stringify({ check, failure, milliseconds: Date.now() - started })}\n`);
  }
}

/** What failed, without the log of each try. @param {unknown} error */
function messageOf(error) {
  const text = error instanceof Error ? error.message : String(error);
  const tries = text.indexOf("Call log:");
  const log = tries < 0 ? "" : text.slice(tries, tries + 500);
  return (tries < 0 ? text : text.slice(0, tries) + log).replace(/\u001b\[\d*m/g, "");
}

/**
 * @template T
 * @param {Promise<T>} promise
 * @param {number} limit
 * @returns {Promise<T>}
 */
async function bounded(promise, limit) {
  let timer;
  const end = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no end within ${limit / 1000} s`)), limit);
  });
  try {
    return await Promise.race([promise, end]);
  } finally {
    clearTimeout(timer);
  }
}

/** What the page shows now. @param {import("playwright-core").Page} page */
async function seen(page) {
  try {
    const look = page.evaluate((length) => {
      const active = document.activeElement;
      const text = (element) => (element?.innerText ?? "").replace(/\n+/g, "\n").slice(0, length);
      return [`address: ${location.hash}`, `keyboard: <${active?.localName}> ${text(active).slice(0, 80)}`,
        `dialog: ${text(document.querySelector("dialog[open]"))}`, `shown: ${text(document.querySelector("main"))}`].join("\n");
    }, SEEN);
    return await bounded(look, 5000);
  } catch (error) {
    return `the page could not be read: ${error}`;
  }
}

/** Fails with what was seen. */
export function assert(isRight, message) {
  if (!isRight) throw new Error(typeof message === "string" ? message : `got ${JSON.stringify(message)}`);
}

export function assertEqual(seenValue, wanted, what = "") {
  const [one, other] = [JSON.stringify(seenValue), JSON.stringify(wanted)];
  if (one !== other) throw new Error(`${what ? `${what}: ` : ""}got ${one}, expected ${other}`);
}

/**
 * Looks until a condition holds.
 * @template T
 * @param {() => Promise<T> | T} look
 * @param {(value: T) => boolean} isRight
 * @param {number} [limit] milliseconds
 * @returns {Promise<T>}
 */
export async function until(look, isRight, limit = 30_000) {
  const end = Date.now() + limit;
  for (;;) {
    const value = await look();
    if (isRight(value)) return value;
    if (Date.now() > end) throw new Error(`not within ${limit / 1000} s; last seen: ${JSON.stringify(value)}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
