// The history of a file: the commits of a git mount that touched it.

import { errorBox, fill, h, icon } from "./dom.js";
import { age, date } from "./format.js";
import { t } from "./i18n.js";
import { linkTo } from "./router.js";

/** @typedef {import("./app.js").App} App */

/**
 * Where the history of a resource may be: the one of its own mount first.
 * @param {App} app
 * @param {string} uri
 * @returns {{ log: string, mount: string }[]}
 */
function places(app, uri) {
  const mounts = app.folders.mounts.filter((mount) => mount.kind === "git" && mount.root);
  const own = mounts.find((mount) => uri.startsWith(String(mount.root)));
  if (own) {
    const rest = uri.slice(String(own.root).length).split("/");
    if (["log", "diff", "blame", "refs", "status", "commit"].includes(rest[0]) || rest.length < 2) return [];
    return [{ log: `${own.root}log/${rest.join("/")}`, mount: own.name }];
  }
  const root = app.folders.mounts.find((mount) => mount.root?.startsWith("file://") && uri.startsWith(mount.root));
  if (!root?.root) return [];
  const path = uri.slice(root.root.length);
  const byName = (/** @type {import("./types.js").MountStatus} */ mount) => (mount.name.startsWith(root.name) ? 0 : 1);
  return mounts
    .toSorted((a, b) => byName(a) - byName(b))
    .map((mount) => ({ log: `${mount.root}log/HEAD/${path}`, mount: mount.name }));
}

/**
 * @param {App} app
 * @param {string} uri
 */
export function hasHistory(app, uri) {
  return places(app, uri).length > 0;
}

export class HistoryView {
  /**
   * @param {App} app
   * @param {string} uri
   */
  constructor(app, uri) {
    this.app = app;
    this.uri = uri;
    this.element = h(
      "div",
      { class: "scroll padded history", tabindex: 0, role: "region", "aria-label": t("viewHistory") },
      h("p", { class: "quiet" }, t("loading")),
    );
    this.reload();
  }

  async reload() {
    /** @type {unknown} */
    let problem = null;
    for (const { log, mount } of places(this.app, this.uri)) {
      try {
        const [part] = await this.app.api.read(log, { accept: ["application/json"] });
        const commits = JSON.parse(part?.text ?? "[]");
        if (Array.isArray(commits) && commits.length > 0) return this.#render(commits, log, mount);
      } catch (error) {
        problem = error;
      }
    }
    fill(this.element, problem ? errorBox(problem) : h("p", { class: "quiet" }, t("noHistory")));
  }

  /**
   * @param {any[]} commits
   * @param {string} log
   * @param {string} mount
   */
  #render(commits, log, mount) {
    const root = log.slice(0, log.indexOf("log/"));
    const path = log
      .slice(log.indexOf("log/") + 4)
      .split("/")
      .slice(1)
      .join("/");
    const rows = commits.map((commit) => {
      const hash = String(commit.hash ?? "");
      return h(
        "li",
        { class: "commit" },
        h("a", { class: "mono", href: linkTo(`${root}commit/${hash}`) }, hash.slice(0, 10)),
        h("span", { class: "subject" }, String(commit.subject ?? "")),
        h(
          "span",
          { class: "quiet", title: date(commit.author?.date) },
          `${commit.author?.name ?? ""}, ${age(commit.author?.date)}`,
        ),
        h("a", { href: linkTo(`${root}${hash}/${path}`) }, t("thatVersion")),
      );
    });
    fill(
      this.element,
      h(
        "p",
        { class: "quiet" },
        icon("mount"),
        ` ${mount} `,
        h("a", { href: linkTo(`${root}blame/HEAD/${path}`) }, t("blame")),
      ),
      h("ol", { class: "commits" }, rows),
    );
  }
}
