// The main states of the real page in both themes and on a phone, for axe and for the eye.

import assert from "node:assert/strict";
import { test } from "node:test";
import { World, wide } from "./world.mjs";

const views = [
  { name: "light", viewport: wide, colorScheme: "light" },
  { name: "dark", viewport: wide, colorScheme: "dark" },
  { name: "phone", viewport: { width: 390, height: 800 }, colorScheme: "dark", hasTouch: true, isMobile: true },
];

/** Pictures it, asks axe, and wants no page that scrolls sideways. */
async function look(tab, name) {
  await tab.picture(name);
  assert.deepEqual(await tab.axe(), [], name);
  assert.equal(await tab.page.evaluate(() => document.documentElement.scrollWidth > innerWidth), false, `${name} scrolls sideways`);
}

test("every main state is good to see and to hear, light and dark, wide and on a phone", async (t) => {
  const world = await World.of(t);
  world.write("notes.md", "# Yard\n\nOne horse stands at the post.\n");
  const first = await world.session();
  await first.run("both read notes.md and list *");
  await first.say("replace horse with mule in notes.md");
  await first.page.locator(".ask").waitFor();
  const asked = new URL(first.page.url()).pathname;
  await first.create();
  await first.run("plan feed the horse, mend the fence, sleep");
  const { pathname } = new URL(first.page.url());
  for (const { name, ...view } of views) {
    const phone = view.isMobile === true;
    const tab = await world.open(asked, view);
    await tab.page.locator(".ask").waitFor();
    assert.equal(await tab.page.evaluate(() => getComputedStyle(document.body).backgroundColor === "rgb(250, 249, 247)"), view.colorScheme === "light");
    await look(tab, `asked ${name}`);
    if (phone) {
      await tab.page.getByRole("button", { name: /^All sessions/ }).click();
      await tab.page.locator(".side .row").first().waitFor();
      await look(tab, `list ${name}`);
      await tab.page.locator(".side .row").nth(1).click();
    } else {
      await tab.page.goto(`${world.url}${pathname}`);
    }
    await tab.page.locator(".runfoot").first().waitFor();
    await look(tab, `plan ${name}`);
    await tab.say("think 5000");
    await tab.page.locator("#stop").waitFor();
    await tab.page.getByText("Thought 20 of 5000").last().waitFor();
    await look(tab, `running ${name}`);
    await tab.page.locator("#stop").click();
    await tab.page.getByText("Stopped.").last().waitFor();
    for (const panel of ["Log", "Settings"]) {
      await tab.page.locator(".head").getByRole("button", { name: "More" }).click();
      await tab.page.getByRole("menuitem", { name: panel, exact: true }).click();
      await tab.page.locator(".panel").waitFor();
      await look(tab, `${panel} ${name}`);
      await tab.page.locator(".panel").getByRole("button", { name: /Close|Back/ }).first().click();
    }
  }
});

test("a phone approves with a thumb: the buttons are 44 px high, and the run goes on", async (t) => {
  const world = await World.of(t);
  await world.rest("sessions", { method: "POST", body: JSON.stringify({ id: "thumb" }), headers: { "content-type": "application/json" } });
  const tab = await world.open("/s/thumb", { viewport: { width: 390, height: 800 }, hasTouch: true, isMobile: true });
  await tab.say("run echo hi");
  for (const name of [/^Approve/, /^Deny$|^Deny D/]) {
    const box = await tab.page.locator(".ask").getByRole("button", { name }).boundingBox();
    assert.ok(box.height >= 44, `${name} is ${box.height} px high`);
  }
  await tab.decide(/^Approve/);
  await tab.until("the end", async () => (await tab.feet()) === 1);
  await tab.sameAfterReload();
});

test("a theme that is chosen stays, and is there before the first paint", async (t) => {
  const world = await World.of(t);
  const tab = await world.open();
  await tab.button("Account and theme").click();
  await tab.page.getByRole("menuitemradio", { name: "Dark" }).or(tab.page.getByRole("menuitemcheckbox", { name: "Dark" })).or(tab.page.getByRole("menuitem", { name: "Dark" })).first().click();
  await tab.until("a dark page", () => tab.page.evaluate(() => document.documentElement.dataset.theme === "dark"));
  await tab.page.reload({ waitUntil: "commit" });
  await tab.page.waitForFunction(() => document.body !== null);
  assert.equal(await tab.page.evaluate(() => document.documentElement.dataset.theme), "dark");
  await tab.live();
  await tab.picture("first run dark");
});
