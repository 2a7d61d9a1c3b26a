// The connection: killed servers, logs that are restored, networks that go, and what is
// said meanwhile.

import assert from "node:assert/strict";
import { copyFileSync, renameSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { World } from "./world.mjs";

test("a server that is killed in the middle of a stream is back with all that was shown, and the run goes on", async (t) => {
  const world = await World.of(t);
  const tab = await world.session();
  await tab.say("think 3000");
  await tab.until("some thoughts", async () => (await tab.thoughts()) >= 40);
  tab.outage();
  await world.stop("SIGKILL");
  await tab.page.getByText("No connection.").waitFor();
  const had = await tab.thoughts();
  assert.match(await tab.page.locator(".head .chip").first().innerText(), /Last known: running/);
  await tab.picture("killed");
  await world.serve();
  await tab.page.getByText("Paused in the middle of a run.").waitFor();
  assert.ok((await tab.thoughts()) >= had, "something that was shown is gone");
  await tab.live();
  await tab.sameAfterReload();
  await tab.picture("paused");
  await tab.button("Go on").click();
  await tab.until("more thoughts", async () => /Thought 3 of 3000/.test((await tab.text()).slice(-200_000)) && (await tab.page.locator("#stop").count()) === 1);
  await tab.page.locator("#stop").click();
  await tab.page.getByText("Stopped.").first().waitFor();
});

test("a server that drains says that it restarts, and the page is live again by itself", async (t) => {
  const world = await World.of(t);
  const tab = await world.session();
  await tab.run("think 2");
  tab.outage();
  await world.stop("SIGTERM");
  await tab.page.getByText("No connection.").waitFor();
  await world.serve();
  await tab.live();
  await tab.page.getByText("No connection.").waitFor({ state: "detached" });
  await tab.run("think 3");
  await tab.sameAfterReload();
});

test("offline is said, a text stays in its box, and what happened meanwhile is there when online", async (t) => {
  const world = await World.of(t);
  const tab = await world.session();
  await tab.say("think 150");
  await tab.until("some thoughts", async () => (await tab.thoughts()) >= 10);
  tab.outage();
  await tab.context.setOffline(true);
  await tab.page.locator(".foot").getByText("Offline").waitFor();
  await tab.page.getByText("No connection.").waitFor();
  await tab.page.fill("#message", "kept");
  await tab.page.press("#message", "Enter");
  assert.equal(await tab.page.inputValue("#message"), "kept");
  assert.equal(await tab.button("Send").getAttribute("aria-disabled"), "true");
  await tab.picture("offline");
  await tab.context.setOffline(false);
  await tab.live();
  await tab.until("the whole answer", async () => (await tab.feet()) === 1 && (await tab.thoughts()) === 150);
  assert.equal(await tab.page.inputValue("#message"), "kept");
  await tab.sameAfterReload();
});

for (const [name, restored] of [
  ["a backup", (world, from) => world.hitchpost("backup", from)],
  ["a copy of its file, which has the same identity,", (world, from) => copyFileSync(join(world.folder, "hitchpost.db"), join(world.folder, from))],
]) {
  test(`when ${name} takes the place of the log, the inspector drops what it read of the old one`, async (t) => {
    const world = await World.of(t);
    const tab = await world.session();
    await tab.run("think 2");
    await tab.page.keyboard.press("Escape");
    await tab.page.keyboard.press("l");
    const rows = () => tab.page.locator(".ev").innerText();
    await tab.until("the whole log", async () => /turn\/end/.test(await rows()));
    const then = await rows();
    tab.outage();
    await world.stop("SIGTERM");
    restored(world, "kept.db");
    await world.serve();
    await tab.live();
    await tab.run("think 3");
    await tab.until("the second run", async () => /think 3/.test(await rows()));
    await world.stop("SIGTERM");
    renameSync(join(world.folder, "kept.db"), join(world.folder, "hitchpost.db"));
    await world.serve();
    await tab.live();
    await tab.until("the rows of the log that was restored", async () => (await rows()) === then);
    await tab.run("think 4");
    await tab.until("a row of its new run", async () => /think 4/.test(await rows()));
    const now = await rows();
    await tab.page.reload();
    await tab.live();
    await tab.until("the same after a reload", async () => (await rows()) === now);
  });
}
