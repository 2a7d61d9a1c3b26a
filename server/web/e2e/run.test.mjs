// A run: sent, streamed, asked for, stopped, and the same after a reload.

import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { World } from "./world.mjs";

test("a text that is sent streams in, and a call has its card", async (t) => {
  const world = await World.of(t);
  world.write("notes.md", "# Yard\n\nOne horse stands at the post.\n");
  const tab = await world.session();
  await tab.say("think 200");
  await tab.until("a part of the answer", async () => (await tab.thoughts()) > 5);
  assert.ok((await tab.thoughts()) < 200, "it came in one piece");
  assert.equal(await tab.page.locator(".head .chip").innerText(), "Running");
  await tab.picture("streaming");
  await tab.until("the whole answer", async () => (await tab.feet()) === 1 && (await tab.thoughts()) === 200);
  await tab.run("read notes.md and tell me the first heading");
  const card = tab.page.locator(".tool").filter({ hasText: "Read" });
  await card.locator("button[aria-expanded]").first().click();
  await card.getByText("One horse stands at the post.").waitFor();
  assert.match(await tab.text(), /The first heading of notes.md is: Yard/);
  await tab.picture("tool card");
});

test("whoever sends the first text of a session stays at its end, also when it is longer than the screen", async (t) => {
  const world = await World.of(t);
  const tab = await world.session();
  await tab.run("one line of many\n\n".repeat(80));
  const below = () => tab.page.getByRole("log").evaluate((log) => log.scrollHeight - log.scrollTop - log.clientHeight);
  await tab.until("the end in view", async () => (await below()) < 48);
  assert.equal(await tab.page.locator(".jump").count(), 0);
});

test("a run is the same after a reload at any of ten points of it", async (t) => {
  const world = await World.of(t);
  const tab = await world.session();
  await tab.say("think 600");
  for (let point = 1; point <= 10; point++) {
    await tab.until(`point ${point}`, async () => (await tab.thoughts()) >= point * 25);
    const had = await tab.thoughts();
    await tab.page.reload();
    await tab.until("as much as before", async () => (await tab.thoughts()) >= had);
  }
  await tab.until("the end", async () => (await tab.feet()) === 1);
  assert.equal(await tab.thoughts(), 600);
  await tab.sameAfterReload();
});

test("a page that stood still for seconds catches up without a hole", async (t) => {
  const world = await World.of(t);
  const tab = await world.session();
  await tab.say("think 250");
  await tab.until("some thoughts", async () => (await tab.thoughts()) >= 10);
  await tab.page.evaluate(() => {
    for (const until = performance.now() + 2_500; performance.now() < until;);
  });
  await tab.until("all thoughts", async () => (await tab.feet()) === 1 && (await tab.thoughts()) === 250);
});

test("a call waits for its approval, also over a reload, and runs when it has it", async (t) => {
  const world = await World.of(t);
  const tab = await world.session();
  await tab.say("run echo one; echo two");
  await tab.page.locator(".ask").waitFor();
  assert.match(await tab.page.title(), /^\(1\)/);
  assert.match(await tab.page.locator(".ask").innerText(), /echo one; echo two/);
  await tab.page.locator(".side").getByText("Bash waits for approval").waitFor();
  await tab.picture("approval");
  await tab.sameAfterReload();
  await tab.decide(/^Approve/);
  await tab.until("the end", async () => (await tab.feet()) === 1);
  assert.match(await tab.text(), /The command printed/);
  assert.doesNotMatch(await tab.page.title(), /^\(/);
  await tab.sameAfterReload();
  await tab.picture("approved");
});

test("a call that is denied with a reason says it, and does not run", async (t) => {
  const world = await World.of(t);
  const tab = await world.session();
  await tab.say("write a line to never.txt");
  await tab.page.locator(".ask").waitFor();
  await tab.page.waitForTimeout(600); // the card's guard
  await tab.button("Deny with a reason…").click();
  await tab.page.getByLabel("Reason, the model reads it").fill("not on a Monday");
  await tab.decide(/^Deny$/);
  await tab.page.getByText("Denied: not on a Monday").first().waitFor();
  await tab.until("the end", async () => (await tab.feet()) === 1);
  assert.equal(existsSync(join(world.folder, "yard", "never.txt")), false);
  await tab.sameAfterReload();
  await tab.picture("denied");
});

test("a call that was approved in one tab is decided in the other, at once", async (t) => {
  const world = await World.of(t);
  const tab = await world.session();
  await tab.say("run echo hi");
  await tab.page.locator(".ask").waitFor();
  const other = await world.open(new URL(tab.page.url()).pathname, { context: tab.context });
  await other.decide(/^Approve/);
  await tab.until("no question any more", async () => (await tab.page.locator(".ask").count()) === 0);
  await tab.until("the same in both", async () => (await tab.feet()) === 1 && (await tab.text()) === (await other.text()));
});

test("two tabs show one stream, and what one sends the other has", async (t) => {
  const world = await World.of(t);
  const tab = await world.session();
  await tab.run("think 3");
  const other = await world.open(new URL(tab.page.url()).pathname, { context: tab.context, token: "" });
  await other.live(); // the token came from the other tab
  await other.say("think 120");
  await tab.until("the stream in the first", async () => /Thought 20 of 120/.test(await tab.text()));
  await tab.until("the same in both", async () => (await tab.feet()) === 2 && (await tab.text()) === (await other.text()));
  await other.page.evaluate(() => (document.hasFocus = () => false)); // as in a tab that nobody is in; its box keeps the focus
  await tab.page.fill("#message", "think 1");
  await tab.until("the draft in the other", async () => (await other.page.inputValue("#message")) === "think 1");
  await tab.page.press("#message", "Enter");
  await tab.until("both boxes empty", async () => (await tab.page.inputValue("#message")) + (await other.page.inputValue("#message")) === "");
});

test("a text that is on its way stays locked in its box for a reader who looks elsewhere meanwhile, and is sent once", async (t) => {
  const world = await World.of(t);
  const tab = await world.session();
  await tab.run("think 1");
  const elsewhere = new URL(tab.page.url()).pathname;
  await tab.create();
  const here = new URL(tab.page.url()).pathname;
  let go = () => undefined;
  const held = new Promise((resolve) => (go = resolve));
  await tab.page.route("**/runs", async (route) => {
    await held;
    await route.continue();
  });
  await tab.say("think 2");
  await tab.page.locator(`.side .row[href="${elsewhere}"]`).click();
  await tab.page.getByText("Thought 1 of 1").waitFor();
  assert.equal(await tab.page.inputValue("#message"), "");
  await tab.page.locator(`.side .row[href="${here}"]`).click();
  await tab.page.getByText("Nothing in this session yet.").waitFor();
  assert.equal(await tab.page.inputValue("#message"), "think 2");
  assert.equal(await tab.page.locator("#message").evaluate((box) => box.readOnly), true);
  await tab.page.press("#message", "Enter");
  go();
  await tab.until("the answer", async () => (await tab.feet()) === 1);
  assert.equal(await tab.page.inputValue("#message"), "");
  await tab.run("think 3");
  assert.equal((await tab.text()).match(/Thought 1 of 2/g).length, 1);
});

test("a waiting text comes back into the box, and a stop shows what had arrived", async (t) => {
  const world = await World.of(t);
  const tab = await world.session();
  await tab.say("think 5000");
  await tab.until("some thoughts", async () => (await tab.thoughts()) >= 10);
  await tab.say("wait for me");
  await tab.page.locator(".queue").getByText("wait for me").waitFor();
  await tab.picture("waiting");
  let taken = () => undefined;
  const asked = new Promise((resolve) => (taken = resolve));
  await tab.page.route("**/inbox/*", async (route) => {
    await asked;
    await route.continue();
  });
  await tab.page.press("#message", "ArrowUp");
  await tab.page.keyboard.type("and me"); // before the server has answered
  taken();
  await tab.until("the text in the box", async () => (await tab.page.inputValue("#message")) === "wait for me\n\nand me");
  await tab.page.locator("#stop").click();
  await tab.page.getByText("Stopped. The text above is what had arrived.").waitFor();
  assert.ok((await tab.thoughts()) >= 10);
  await tab.sameAfterReload();
  await tab.picture("stopped");
});
