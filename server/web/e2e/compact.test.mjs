// A history that is summarised: the mark of it, and what stands above.

import assert from "node:assert/strict";
import { test } from "node:test";
import { World } from "./world.mjs";

test("a summary marks the timeline in every tab at once, and after a reload; what it stands for stays", async (t) => {
  const world = await World.of(t);
  const tab = await world.session();
  for (const n of [1, 2, 3, 4, 5, 6]) {
    await tab.run(`think ${n}`);
  }
  const other = await world.open(new URL(tab.page.url()).pathname);
  await other.page.getByText("Thought 6 of 6").waitFor();
  await tab.page.getByRole("button", { name: "Session settings" }).click();
  await tab.page.locator(".panel").getByRole("button", { name: "Compact now" }).click();
  for (const { page } of [tab, other]) {
    const mark = page.locator("[role=log]").getByRole("button", { name: /^Summarised above this line, \d+ to \d+ tokens$/ });
    await mark.waitFor();
    await page.getByText("Thought 1 of 1.").waitFor();
  }
  await tab.picture("summarised");
  const mark = tab.page.locator("[role=log]").getByRole("button", { name: /^Summarised/ });
  await mark.click();
  await tab.page.getByText("A digest by demo/guide").waitFor();
  await tab.sameAfterReload();
  await other.run("think 7");
  await other.sameAfterReload();
});
