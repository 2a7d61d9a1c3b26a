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
  const here = tab.page.url();
  await tab.button("Edit and branch").click();
  await tab.page.keyboard.type(", or four");
  await tab.create(); // whoever looks elsewhere has the text in the box
  await tab.page.goBack();
  await tab.page.waitForURL(here);
  await tab.until("what was typed", async () => (await tab.page.inputValue("#message")) === "think 3, or four");
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
