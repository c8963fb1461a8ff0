// Templates, tools and prompts as forms, and a server that asks back.

import { assert, assertEqual, until } from "./report.mjs";

/** @param {import("./walk_browse.mjs").Walk} walk */
export async function walkForms({ page, hand, desk, check }) {
  const views = page.getByRole("navigation", { name: "Views" });

  await check("a template is filled with completion from the server, and opens", async () => {
    await page.goto(desk.page());
    await hand.press(views.getByRole("link", { name: "Templates" }));
    await hand.press(page.locator(".component-list a", { hasText: "file:///handbook/{+path}" }));
    const input = page.locator(".form-row input");
    await hand.type(input, "docs/si");
    const options = () => page.locator("datalist option").evaluateAll((all) => all.map((one) => /** @type {HTMLOptionElement} */ (one).value));
    const offered = await until(options, (seen) => seen.includes("docs/signing.md"));
    await hand.type(input, String(offered.find((one) => one === "docs/signing.md")));
    assertEqual(await page.locator("output").innerText(), "file:///handbook/docs/signing.md", "the expanded URI");
    await hand.press(page.getByRole("button", { name: "Open" }));
    await page.frameLocator("iframe.frame").getByRole("heading", { name: "Signing releases" }).waitFor();
  });

  await check("a tool of refdesk runs from a form made of its schema", async () => {
    await hand.press(views.getByRole("link", { name: "Tools" }));
    await hand.press(page.locator(".component-list a", { hasText: "resources_grep" }));
    await hand.type(page.getByLabel("pattern"), "second token");
    await hand.press(page.getByRole("button", { name: "Run" }));
    await page.locator(".result", { hasText: "notes.txt" }).waitFor();
  });

  const openTool = async () => {
    await page.goto(desk.page("#tools/asking_book_table"));
    await hand.type(page.locator(".component-body input"), "4");
    await hand.press(page.getByRole("button", { name: "Run" }));
    await page.getByRole("dialog").getByText("A table for 4: under which name?").waitFor();
  };

  await check("a tool that needs an argument is not called without it", async () => {
    await page.goto(desk.page("#tools/asking_book_table"));
    await page.locator(".component-body input").waitFor();
    await hand.press(page.getByRole("button", { name: "Run" }));
    const isMissing = () => page.locator(".component-body input").evaluate((one) => /** @type {HTMLInputElement} */ (one).validity.valueMissing);
    assert(await until(isMissing, Boolean), "the form accepts nothing");
    assertEqual(await page.locator(".result").count(), 0, "results");
  });

  await check("a tool asks back: its question is a form, and the answer reaches it", async () => {
    await openTool();
    const dialog = page.getByRole("dialog");
    await hand.type(dialog.getByLabel("Your name"), "Ada");
    await hand.choose(dialog.getByLabel("At the window"), "yes");
    await hand.press(dialog.getByRole("button", { name: "Send" }));
    await page.locator(".result", { hasText: "A table for 4 at the window, for Ada." }).waitFor();
  });

  await check("a question can be declined, or closed with Escape", async () => {
    await openTool();
    await hand.press(page.getByRole("dialog").getByRole("button", { name: "Decline" }));
    await page.locator(".result", { hasText: "No table: decline." }).waitFor();
    await openTool();
    await page.keyboard.press("Escape");
    await page.locator(".result", { hasText: "No table: cancel." }).waitFor();
  });

  await check("a prompt is filled and shown", async () => {
    await page.goto(desk.page("#prompts/asking_invite"));
    await hand.type(page.locator(".component-body input"), "Grace");
    await hand.press(page.getByRole("button", { name: "Get the prompt" }));
    await page.locator(".message", { hasText: "Invite Grace to dinner." }).waitFor();
  });
}
