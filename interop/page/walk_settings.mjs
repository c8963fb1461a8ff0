// Language, colours, keys, and another address.

import { assert, assertEqual, until } from "./report.mjs";

/** @param {import("./walk_browse.mjs").Walk} walk */
export async function walkSettings({ page, hand, desk, check }) {
  await check("the language changes where the page is, and stays", async () => {
    await page.goto(desk.page("#/file:///handbook/docs"));
    await hand.press(page.getByRole("button", { name: "日本語" }));
    await page.getByRole("columnheader", { name: "サイズ" }).waitFor();
    assertEqual(await page.evaluate(() => [document.documentElement.lang, location.hash]), ["ja", "#/file:///handbook/docs"], "language and place");
    await page.reload();
    await page.getByRole("columnheader", { name: "サイズ" }).waitFor();
    await hand.press(page.getByRole("button", { name: "English" }));
    await page.getByRole("columnheader", { name: "Size" }).waitFor();
  });

  await check("the colours change from the system's to dark to light, and back", async () => {
    const shade = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const light = await shade();
    await hand.press(page.getByRole("button", { name: "Colours: as the system" }));
    const dark = await until(shade, (seen) => seen !== light);
    await hand.press(page.getByRole("button", { name: "Colours: dark" }));
    await until(shade, (seen) => seen === light);
    await hand.press(page.getByRole("button", { name: "Colours: light" }));
    await page.getByRole("button", { name: "Colours: as the system" }).waitFor();
    return `${light}, ${dark}`;
  });

  await check("the help names the keys and closes with Escape", async () => {
    await hand.press(page.getByRole("button", { name: "Keys" }));
    await page.getByRole("dialog", { name: "Keys" }).getByText("This help").waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
  });

  await check("the page points at another address, says that it cannot reach it, and comes back", async () => {
    await hand.press(page.getByRole("button", { name: "Connected" }));
    const dialog = page.getByRole("dialog", { name: "Connection" });
    await hand.type(dialog.getByLabel("MCP address"), `${desk.origin}/none`);
    await hand.press(dialog.getByRole("button", { name: "Connect", exact: true }));
    await page.getByRole("button", { name: "Offline" }).waitFor();
    await hand.press(page.getByRole("button", { name: "Offline" }));
    await hand.type(dialog.getByLabel("MCP address"), "");
    await hand.press(dialog.getByRole("button", { name: "Connect", exact: true }));
    await page.getByRole("button", { name: "Connected" }).waitFor();
    assert(page.url().startsWith(desk.origin), page.url());
  });
}
