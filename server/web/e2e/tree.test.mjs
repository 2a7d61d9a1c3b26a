// What branches: an answer given anew, a text that is edited, attempts, forks; and deleting.

import assert from "node:assert/strict";
import { test } from "node:test";
import { World } from "./world.mjs";

test("a text that is edited and an answer that is given anew keep what was there", async (t) => {
  const world = await World.of(t);
  const tab = await world.session();
  await tab.run("think 2");
  await tab.page.locator(".runfoot").hover();
  await tab.button("Regenerate").click();
  await tab.page.locator(".runfoot").getByText("2 / 2").waitFor();
  await tab.until("the second answer", async () => (await tab.feet()) === 1);
  await tab.picture("regenerated");
  await tab.button("Edit and branch").click();
  await tab.page.keyboard.press("ControlOrMeta+A");
  await tab.page.keyboard.type("think 3");
  await tab.picture("editing");
  await tab.button("Send as a new attempt").click();
  await tab.until("the new answer", async () => /Thought 3 of 3/.test(await tab.text()) && (await tab.feet()) === 1);
  await tab.sameAfterReload();
  await tab.button("Previous attempt").first().click();
  await tab.until("the old answer", async () => /Thought 2 of 2/.test(await tab.text()) && !/of 3/.test(await tab.text()));
  await tab.page.locator(".runfoot").getByText("2 / 2").waitFor();
  await tab.sameAfterReload();
  await tab.page.locator(".runfoot").hover();
  await tab.page.locator(".runfoot").getByRole("button", { name: "Previous attempt" }).click();
  await tab.page.locator(".runfoot").getByText("1 / 2").waitFor();
  await tab.sameAfterReload();
  await tab.button("Next attempt").first().click();
  await tab.until("the edited text again", async () => /Thought 3 of 3/.test(await tab.text()));
});

test("a text that is being edited stays with its entry, over a reload and a look elsewhere, until it is sent or given up", async (t) => {
  const world = await World.of(t);
  const tab = await world.session();
  const here = tab.page.url();
  const field = tab.page.getByLabel("Edit your text");
  const reloaded = async () => {
    await tab.page.reload();
    await tab.live();
    await tab.page.locator(".runfoot").waitFor();
  };
  await tab.run("think 2");
  await tab.button("Edit and branch").click();
  await tab.page.keyboard.type(", or four");
  await reloaded();
  await field.waitFor();
  assert.equal(await field.inputValue(), "think 2, or four");
  assert.equal(await field.evaluate((e) => e === document.activeElement), false, "what comes back takes no focus");
  await tab.create();
  await tab.page.goBack();
  await tab.page.waitForURL(here);
  await field.waitFor();
  assert.equal(await field.inputValue(), "think 2, or four");
  await tab.button("Cancel").click();
  await reloaded();
  await tab.button("Edit and branch").click();
  assert.equal(await field.inputValue(), "think 2", "it was given up");
  await tab.page.keyboard.press("ControlOrMeta+A");
  await tab.page.keyboard.type("think 3");
  await reloaded();
  await tab.button("Send as a new attempt").click();
  await tab.until("the new answer", async () => /Thought 3 of 3/.test(await tab.text()) && (await tab.feet()) === 1);
  await tab.button("Previous attempt").first().click();
  await tab.until("the old answer", async () => /Thought 2 of 2/.test(await tab.text()));
  await reloaded();
  assert.equal(await field.count(), 0, "it was sent");
  assert.equal(await tab.page.inputValue("#message"), "");
});

test("a text that is being edited when its entry leaves the screen is in the box, unless the log has it", async (t) => {
  const world = await World.of(t);
  const tab = await world.session();
  const session = new URL(tab.page.url()).pathname.slice(3);
  const inBox = (text) => tab.until(`“${text}” in the box`, async () => (await tab.page.inputValue("#message")) === text);
  const edit = async (text) => {
    await tab.button("Edit and branch").click();
    await tab.page.keyboard.press("ControlOrMeta+A");
    await tab.page.keyboard.type(text);
  };
  const gone = () => tab.page.locator(".you-edit").waitFor({ state: "detached" });
  await tab.run("think 1");
  await edit("of another branch");
  const entry = await tab.page.locator("article.e").filter({ has: tab.page.locator(".you-edit") }).getAttribute("data-key");
  await world.rest(`sessions/${session}/branch`, { method: "POST", body: JSON.stringify({ entry_id: entry, exclusive: true }), headers: { "content-type": "application/json" } });
  await gone();
  await inBox("of another branch");
  await tab.run("think 2");
  let arrives = false;
  let asked = 0;
  await tab.page.route("**/runs", async (route) => { // an answer is never heard
    if (arrives) {
      await route.fetch();
    }
    asked++;
  });
  const sent = async (text) => {
    const before = asked;
    await edit(text);
    await tab.button("Send as a new attempt").click();
    await tab.until("it is on its way", () => asked > before);
    await gone();
    assert.equal(await tab.page.inputValue("#message"), "");
    await tab.page.reload();
    await tab.live();
  };
  await sent("of no attempt yet");
  await inBox("of no attempt yet");
  await tab.page.fill("#message", "");
  await world.rest(`sessions/${session}/runs`, { method: "POST", body: JSON.stringify({ input: "think 2" }), headers: { "content-type": "application/json" } });
  await tab.until("its end", async () => (await tab.feet()) === 1);
  arrives = true;
  await sent("think 3");
  await tab.until("the new answer", async () => /Thought 3 of 3/.test(await tab.text()) && (await tab.feet()) === 1);
  assert.equal(await tab.page.inputValue("#message"), "");
});

test("a text that is edited in two tabs and sent in one of them is in the box as the other one has it", async (t) => {
  const world = await World.of(t);
  const one = await world.session();
  await one.run("think 1");
  const other = await world.open(new URL(one.page.url()).pathname, { context: one.context, token: "" });
  await other.live();
  const edit = async (tab, text) => {
    await tab.button("Edit and branch").click();
    await tab.page.keyboard.press("ControlOrMeta+A");
    await tab.page.keyboard.type(text);
  };
  await edit(other, "think of something else");
  await edit(one, "think 2");
  await one.page.keyboard.press("Enter");
  await one.until("the new answer", async () => /Thought 2 of 2/.test(await one.text()));
  await other.page.locator(".you-edit").waitFor({ state: "detached" });
  await other.until("what was typed in the box", async () => (await other.page.inputValue("#message")) === "think of something else");
});

test("a search opens what it found, in another attempt too, and a late answer takes nothing's place", async (t) => {
  const world = await World.of(t);
  const tab = await world.session();
  await tab.run("think 2");
  await tab.button("Edit and branch").click();
  await tab.page.keyboard.press("ControlOrMeta+A");
  await tab.page.keyboard.type("think 3");
  await tab.button("Send as a new attempt").click();
  await tab.until("the new answer", async () => /Thought 3 of 3/.test(await tab.text()) && (await tab.feet()) === 1);
  let late = () => undefined;
  const held = new Promise((resolve) => (late = resolve));
  await tab.page.route("**/search?q=Thou", async (route) => {
    await held;
    await route.continue();
  });
  const first = tab.page.waitForRequest("**/search?q=Thou");
  await tab.page.fill("#search", "Thou");
  const answer = (await first).response();
  await tab.page.fill("#search", "2 of 2");
  await tab.page.locator(".hit").first().waitFor();
  late();
  await (await answer).finished();
  await tab.page.evaluate(() => new Promise((drawn) => setTimeout(() => requestAnimationFrame(drawn))));
  await tab.page.locator(".hit").filter({ hasText: "Thought 2 of 2" }).click();
  await tab.page.getByText("The entry you look for belongs to another attempt.").waitFor();
  await tab.button("Show that attempt").click();
  await tab.page.locator(".found").getByText("Thought 2 of 2").waitFor();
  await tab.page.getByText("The entry you look for").waitFor({ state: "detached" });
  await tab.page.goto(`${new URL(tab.page.url()).origin}${new URL(tab.page.url()).pathname}?e=0123456789abcdef`);
  await tab.page.getByText("This session holds no such entry.").waitFor();
});

test("no attempt is switched while a run goes on", async (t) => {
  const world = await World.of(t);
  const tab = await world.session();
  await tab.run("think 1");
  await tab.say("think 5000");
  await tab.page.getByText("Thought 3 of 5000").waitFor();
  await tab.page.locator(".runfoot").hover();
  const regenerate = tab.button("Regenerate");
  assert.equal(await regenerate.getAttribute("aria-disabled"), "true");
  await tab.page.locator("#stop").click();
  await tab.page.getByText("Stopped.").waitFor();
  await tab.page.locator(".runfoot").first().hover();
  await tab.until("a button that does something", async () => (await regenerate.first().getAttribute("aria-disabled")) !== "true");
  tab.expected = /409/; // a run that somebody else starts between the branch and the new answer
  await tab.page.route("**/branch", async (route) => {
    const response = await route.fetch();
    const body = JSON.stringify({ input: "think 4000" });
    await world.rest(`sessions/${new URL(tab.page.url()).pathname.slice(3)}/runs`, { method: "POST", body, headers: { "content-type": "application/json" } });
    await route.fulfill({ response });
  });
  await regenerate.first().click();
  await tab.page.getByRole("dialog").getByText("Another run has just started.").waitFor();
  await tab.page.keyboard.press("Escape");
  await tab.page.locator("#stop").click();
  await tab.page.locator("#stop").waitFor({ state: "detached" });
});

test("a fork is a session of its own that holds what came before", async (t) => {
  const world = await World.of(t);
  const tab = await world.session();
  await tab.run("think 2");
  await tab.run("think 4");
  const was = tab.page.url();
  await tab.button("Fork from here").nth(1).click(); // in the foot of the first run
  await tab.page.waitForURL((u) => u.href !== was);
  await tab.until("the first run alone", async () => /Thought 2 of 2/.test(await tab.text()) && !/of 4/.test(await tab.text()));
  await tab.run("think 5");
  await tab.sameAfterReload();
  await tab.picture("fork");
  assert.match(await tab.text(), /^Forked from think 2 Start of the session/);
  await tab.page.locator("[role=log]").getByRole("link", { name: "think 2" }).click();
  await tab.page.waitForURL(was);
  await tab.until("the first session as it was", async () => /Thought 4 of 4/.test(await tab.text()) && !/of 5/.test(await tab.text()));
});

test("a session that is deleted is gone from both tabs, and its address says so", async (t) => {
  const world = await World.of(t);
  const tab = await world.session();
  await tab.run("think 1");
  await tab.create();
  await tab.run("think 2");
  const address = tab.page.url();
  const other = await world.open(new URL(address).pathname, { context: tab.context });
  other.expected = /404/; // what it shows is read again, and is gone
  await tab.button("More", { exact: true }).first().click();
  await tab.page.getByRole("menuitem", { name: "Delete" }).click();
  await tab.page.getByText("Its log is gone for good.").waitFor();
  await tab.picture("delete");
  await tab.page.getByRole("dialog").getByRole("button", { name: "Keep" }).click();
  assert.match(await tab.text(), /Thought 2 of 2/);
  await tab.page.locator(".head").getByRole("button", { name: "More" }).click();
  await tab.page.getByRole("menuitem", { name: "Delete" }).click();
  await tab.page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await tab.page.waitForURL((u) => u.href !== address);
  await tab.until("the other session", async () => /Thought 1 of 1/.test(await tab.text()));
  await other.page.getByText("This session does not exist (any more).").waitFor();
  assert.equal(await tab.page.locator(".side .row").count(), 1);
});
