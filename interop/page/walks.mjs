// The walks through the page, by mouse and again by keyboard alone.

import { openPage } from "./browser.mjs";
import { brokenSettings, handbookSettings, upstreamSettings, writeHandbook } from "./handbook.mjs";
import { Keyboard, Mouse } from "./hands.mjs";
import { python, servers } from "./modules.mjs";
import { freePort, Refdesk } from "./refdesk.mjs";
import { assertEqual } from "./report.mjs";
import { walkBasket } from "./walk_basket.mjs";
import { walkBrowse } from "./walk_browse.mjs";
import { walkForms } from "./walk_forms.mjs";
import { walkLive } from "./walk_live.mjs";
import { walkPreviews } from "./walk_previews.mjs";
import { walkSearch } from "./walk_search.mjs";
import { walkSettings } from "./walk_settings.mjs";

/** @type {Record<string, (walk: import("./walk_browse.mjs").Walk) => Promise<void>>} */
export const WALKS = { browse: walkBrowse, search: walkSearch, previews: walkPreviews, forms: walkForms, basket: walkBasket, settings: walkSettings, live: walkLive };

/** @param {import("./main.mjs").Suite} suite */
export async function checkWalks({ program, folder, browser, report, chosen }) {
  const named = Object.keys(WALKS).filter((name) => chosen.includes(name));
  const walks = named.length > 0 ? named : Object.keys(WALKS);
  const handbook = writeHandbook(folder);
  const settings = handbookSettings(handbook) + upstreamSettings("asking", [python, "-B", `${servers}/asking.py`]) + brokenSettings();
  // A port of its own, so that it is the same after a restart.
  const desk = await new Refdesk(program, `${folder}/desk`, settings, { port: await freePort() }).start();
  for (const Hand of [Mouse, Keyboard]) {
    const { context, page, watched } = await openPage(browser, desk.origin);
    const hand = new Hand(page);
    const check = (/** @type {string} */ name, /** @type {() => Promise<unknown>} */ run) => report.check(`page, ${hand.name}: ${name}`, run, page);
    for (const name of walks) await WALKS[name]({ page, hand, desk, folder: handbook, check });
    await check("nothing went to another address, and no script failed", async () => {
      // A server that is gone is an error in the console of every browser.
      const errors = watched.errors.filter((error) => !/net::ERR_|status of 404|status of 405/.test(error));
      assertEqual({ reached: watched.reached, errors, dialogs: watched.dialogs, blocked: watched.blocked }, { reached: [], errors: [], dialogs: [], blocked: [] });
    });
    await context.close();
  }
  await desk.stop();
}
