// A text on its way when the page goes: it is sent once, and it is not lost.

import assert from "node:assert/strict";
import { test } from "node:test";
import { World } from "./world.mjs";

/** Lets nothing through that starts a run until it is open; keys are those that it was asked for under. */
async function hold(tab) {
  const gate = { keys: [], open: false };
  await tab.page.route("**/api/v1/sessions/*/runs", async (route) => {
    gate.keys.push(route.request().headers()["idempotency-key"]);
    if (gate.open) {
      await route.continue();
    }
  });
  return gate;
}

test("a reload while a text is sent keeps its key, so that sending again starts one run", async (t) => {
  const world = await World.of(t);
  const tab = await world.session();
  const gate = await hold(tab);
  await tab.say("think 2");
  await tab.until("it is on its way", () => gate.keys.length === 1);
  await tab.page.reload();
  await tab.page.getByText("Not confirmed. It may have arrived.").waitFor();
  assert.equal(await tab.page.inputValue("#message"), "think 2");
  await tab.live();
  gate.open = true;
  await tab.button("Send again").click();
  await tab.until("the end of the run", async () => (await tab.feet()) === 1);
  assert.equal(gate.keys[1], gate.keys[0]);
  assert.equal(await tab.page.inputValue("#message"), "");
  await tab.sameAfterReload();
  assert.equal(await tab.page.getByText("Not confirmed.").count(), 0);
});

test("a text that arrives after all, behind a reload, leaves the box by itself", async (t) => {
  const world = await World.of(t);
  const tab = await world.session();
  const [session] = new URL(tab.page.url()).pathname.split("/").slice(-1);
  const { keys } = await hold(tab);
  await tab.say("think 2");
  await tab.until("it is on its way", () => keys.length === 1);
  await tab.page.reload();
  await tab.page.getByText("Not confirmed. It may have arrived.").waitFor();
  await world.rest(`sessions/${session}/runs`, { // as a slow network would
    method: "POST", body: JSON.stringify({ input: "think 2" }), headers: { "idempotency-key": keys[0], "content-type": "application/json" },
  });
  await tab.until("the end of the run", async () => (await tab.feet()) === 1);
  await tab.until("an empty box", async () => (await tab.page.inputValue("#message")) === "");
  assert.equal(await tab.page.getByText("Not confirmed.").count(), 0);
});
