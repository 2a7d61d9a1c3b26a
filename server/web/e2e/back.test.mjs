// The browser's own Back and Forward, and the panels that are screens of their own on a phone.

import assert from "node:assert/strict";
import { test } from "node:test";
import { World, wide } from "./world.mjs";

const phone = { viewport: { width: 390, height: 800 }, hasTouch: true, isMobile: true };

/** A tab that came to the session "second" from the session "first". */
async function onSecond(t, view) {
  const world = await World.of(t);
  for (const id of ["first", "second"]) {
    await world.rest("sessions", { method: "POST", body: JSON.stringify({ id, title: id }), headers: { "content-type": "application/json" } });
  }
  const tab = await world.open("/s/first", view);
  await tab.page.locator("#message").waitFor();
  if (view.viewport.width < 760) {
    await tab.button("All sessions").click();
  }
  await tab.page.locator(".side .row").filter({ hasText: "second" }).click();
  await shows(tab, "second", null);
  return tab;
}

const panel = (tab) => tab.page.locator(".panel");
const ownBack = (tab) => tab.button("Back to the conversation").click();

async function openPanel(tab, name) {
  await tab.page.locator(".head").getByRole("button", { name: "More" }).click();
  await tab.page.getByRole("menuitem", { name, exact: true }).click();
  await panel(tab).getByRole("heading", { name }).waitFor();
}

/** The address and the screen, which are the same thing. open: the name of the panel; null = the conversation is shown. */
async function shows(tab, session, open) {
  await tab.page.waitForURL((u) => u.pathname === `/s/${session}` && u.search === (open === null ? "" : `?${open.toLowerCase()}`));
  if (open === null) {
    await panel(tab).waitFor({ state: "detached" });
    await tab.page.locator(".main").getByRole("heading", { name: session }).waitFor();
  } else {
    await panel(tab).getByRole("heading", { name: open }).waitFor();
  }
}

for (const name of ["Log", "Settings"]) {
  test(`on a phone Back closes ${name}, Forward opens it again, and the button for Back leaves no step behind`, async (t) => {
    const tab = await onSecond(t, phone);
    await openPanel(tab, name);
    await tab.page.goBack();
    await shows(tab, "second", null);
    await tab.page.goForward();
    await shows(tab, "second", name);
    await ownBack(tab);
    await shows(tab, "second", null);
    await openPanel(tab, name);
    await ownBack(tab);
    await shows(tab, "second", null);
    await tab.page.goBack();
    await shows(tab, "first", null);
  });
}

test("a panel that a phone loads anew closes by one step, whichever Back is pressed", async (t) => {
  const tab = await onSecond(t, phone);
  for (const back of [ownBack, (of) => of.page.goBack()]) {
    await openPanel(tab, "Log");
    await tab.page.reload();
    await tab.live();
    await shows(tab, "second", "Log");
    await back(tab);
    await shows(tab, "second", null);
  }
  await tab.page.goBack();
  await shows(tab, "first", null);
});

test("a panel that an address opened on a phone closes in its place", async (t) => {
  const world = await World.of(t);
  await world.rest("sessions", { method: "POST", body: JSON.stringify({ id: "first", title: "first" }), headers: { "content-type": "application/json" } });
  const tab = await world.open("/s/first?log=0", phone);
  await panel(tab).getByRole("heading", { name: "Log" }).waitFor();
  const steps = await tab.page.evaluate(() => history.length);
  await ownBack(tab);
  await shows(tab, "first", null);
  assert.equal(await tab.page.evaluate(() => history.length), steps);
  await openPanel(tab, "Log");
  await tab.page.goBack();
  await shows(tab, "first", null);
});

test("a panel that takes the place of another is one step with it, and Escape takes that back", async (t) => {
  const tab = await onSecond(t, { viewport: { width: 700, height: 800 } });
  const press = async (key) => {
    await tab.page.evaluate(() => document.activeElement.blur());
    await tab.page.keyboard.press(key);
  };
  const twice = () => tab.page.evaluate(() => {
    for (let n = 0; n < 2; n++) {
      document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "Escape", bubbles: true }));
    }
  });
  for (const close of [() => tab.page.goBack(), () => press("Escape"), twice, () => press("s")]) {
    await press("l");
    await shows(tab, "second", "Log");
    await press("s");
    await shows(tab, "second", "Settings");
    await close();
    await shows(tab, "second", null);
  }
  await tab.page.goBack();
  await shows(tab, "first", null);
});

test("the log that an unknown entry leads to on a phone closes without a step left behind", async (t) => {
  const tab = await onSecond(t, phone);
  await tab.page.route("**/messages?*", async (route) => { // as a later server would answer
    const response = await route.fetch();
    const entries = await response.json();
    await route.fulfill({ response, json: entries.map((entry, n) => (n + 1 < entries.length ? entry : { ...entry, kind: "hologram" })) });
  });
  await tab.run("think 1");
  await tab.page.reload();
  await tab.page.getByRole("link", { name: "Show what the log holds" }).click();
  await tab.page.waitForURL(/\?log=\d+$/);
  await panel(tab).getByRole("heading", { name: "Log" }).waitFor();
  await ownBack(tab);
  await shows(tab, "second", null);
  await tab.page.goBack();
  await shows(tab, "first", null);
});

test("a session that is deleted from its settings on a phone is no step that Back leads to", async (t) => {
  const tab = await onSecond(t, phone);
  await openPanel(tab, "Settings");
  await panel(tab).getByRole("button", { name: "Delete" }).click();
  await tab.page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await shows(tab, "first", null);
  await tab.page.goBack();
  await shows(tab, "first", null);
});

test("coming back from the log to an entry that the address named does not scroll there again", async (t) => {
  const tab = await onSecond(t, phone);
  for (const text of ["think 1", "think 60", "think 2"]) {
    await tab.run(text);
  }
  const entry = await tab.page.locator("article.e").first().getAttribute("data-key");
  await tab.page.goto(`${tab.world.url}/s/second?e=${entry}`);
  await tab.page.locator(".found").waitFor();
  await tab.live();
  await tab.until("the entry in view", () => tab.page.evaluate(() => document.querySelector("[role=log]").scrollTop < 100));
  await tab.button("Newest").click();
  const top = () => tab.page.evaluate(() => Math.round(document.querySelector("[role=log]").scrollTop));
  await tab.button("Newest").waitFor({ state: "detached" });
  const was = await top();
  assert.ok(was > 200, `the end is ${was} px below the top`);
  await openPanel(tab, "Log");
  await tab.page.goBack();
  await shows(tab, "second", null);
  await tab.page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))));
  assert.equal(await top(), was);
});

test("beside the conversation a panel is no step: Back leaves the session", async (t) => {
  const tab = await onSecond(t, { viewport: wide });
  for (const name of ["Log", "Settings"]) {
    await openPanel(tab, name);
  }
  await tab.page.goBack();
  await shows(tab, "first", null);
});
