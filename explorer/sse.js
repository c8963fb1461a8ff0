// Server-sent events of a fetch response, one at a time.

/** @typedef {{ id: string, data: string, retry?: number }} SseEvent */

/** The longest event that is kept; a server that sends more is cut off. */
const MAX_EVENT = 64 * 1024 * 1024;

/**
 * The events of a response, until its stream ends.
 * @param {Response} response
 * @returns {AsyncGenerator<SseEvent>}
 */
export async function* readEvents(response) {
  if (!response.body) return;
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  let id = "";
  /** @type {string[]} */
  let data = [];
  let length = 0;
  /** @type {number | undefined} */
  let retry;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      rest += value;
      const lines = rest.split(/\r\n|\n|\r(?!$)/);
      rest = lines.pop() ?? "";
      for (const line of lines) {
        if (line === "") {
          if (data.length > 0 || id !== "") yield { id, data: data.join("\n"), retry };
          [data, length, retry] = [[], 0, undefined];
          continue;
        }
        const colon = line.indexOf(":");
        const field = colon < 0 ? line : line.slice(0, colon);
        const text = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
        if (field === "data") data.push(text);
        else if (field === "id") id = text;
        else if (field === "retry" && /^\d+$/.test(text)) retry = Number(text);
        length += text.length;
      }
      if (length + rest.length > MAX_EVENT) throw new Error("an event of the server is too long");
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}
