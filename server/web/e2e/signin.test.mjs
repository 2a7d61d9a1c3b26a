// Who may see the page's sessions, and what is said to the others.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { sessionLines, World } from "./world.mjs";

test("the link of serve signs in, its token leaves the address before anything is asked, and the first text is not lost", async (t) => {
  const world = await World.of(t);
  const tab = await world.open();
  assert.equal(new URL(tab.page.url()).hash, "");
  await tab.page.getByText("Start an agent, then walk away.").waitFor();
  await tab.picture("first run");
  await tab.page.reload();
  await tab.live(); // the tab has kept it
  tab.expected = /ERR_FAILED/;
  await tab.page.route("**/runs", (route) => route.abort(), { times: 1 });
  await tab.say("think 1"); // the session comes about, the run does not
  await tab.page.getByText("Not confirmed. It may have arrived.").waitFor();
  assert.equal(await tab.page.inputValue("#message"), "think 1");
  await tab.button("Send again").click();
  await tab.page.locator(".runfoot").waitFor();
  assert.equal(await tab.page.evaluate(() => localStorage.length > 0 && JSON.stringify(localStorage).includes(sessionStorage.getItem(sessionStorage.key(0)))), false);
});

test("a token that is pasted signs in, and a deep link is followed then", async (t) => {
  const world = await World.of(t);
  await world.rest("sessions", { method: "POST", body: JSON.stringify({ id: "deep" }), headers: { "content-type": "application/json" } });
  const tab = await world.open("/s/deep", { token: "" });
  const field = tab.page.getByLabel("Token");
  await field.waitFor();
  await tab.picture("sign in");
  await field.fill(world.token);
  await field.press("Enter");
  await tab.live();
  assert.equal(new URL(tab.page.url()).pathname, "/s/deep");
  await tab.page.getByText("Nothing in this session yet.").waitFor();
});

test("signing out closes the other tabs too, and none of them hands the token on", async (t) => {
  const world = await World.of(t);
  const tab = await world.session();
  const other = await world.open(new URL(tab.page.url()).pathname, { context: tab.context, token: "" });
  await other.live();
  await other.page.fill("#message", "half a thought");
  await tab.button("Account and theme").click();
  await tab.page.getByRole("menuitem", { name: /^Sign out/ }).click();
  await tab.page.getByLabel("Token").waitFor();
  await other.page.getByLabel("Token").waitFor();
  await tab.page.reload();
  await tab.page.getByLabel("Token").waitFor();
  assert.deepEqual(await tab.page.evaluate(() => [Object.keys(sessionStorage), Object.keys(localStorage)]), [[], []]);
});

test("a reload reads its session while the page's script is on its way, and no more often for it", async (t) => {
  const world = await World.of(t, { lines: sessionLines("early", 4) });
  const tab = await world.open("/s/early");
  let asked = 0;
  tab.page.on("request", (r) => (asked += /\/messages\?/.test(r.url()) ? 1 : 0));
  const reading = tab.page.waitForRequest(/\/s\w+\/early\/messages\?/);
  await tab.page.route("**/app.js", async (route) => {
    await reading;
    await route.continue();
  });
  await tab.page.reload();
  await tab.live();
  await tab.page.getByText("Answer 0.").waitFor();
  assert.equal(asked, 2, "before the script, and after the socket is there");
});

test("a wrong token is told so below its field, which keeps it", async (t) => {
  const world = await World.of(t);
  const tab = await world.open("/", { token: "" });
  tab.expected = /401/;
  const field = tab.page.getByLabel("Token");
  await field.fill("wrong");
  await field.press("Enter");
  await tab.page.getByText("This token is not known to the server.").waitFor();
  assert.equal(await field.getAttribute("aria-invalid"), "true");
  assert.equal(await field.inputValue(), "wrong");
  assert.deepEqual(await tab.axe(), []);
  await tab.picture("wrong token");
  await field.fill(world.token);
  await field.press("Enter");
  await tab.live();
});

test("a token that is revoked closes the page at once, and the draft is there after the next sign-in", async (t) => {
  const world = await World.of(t, { waits: false });
  const made = spawnSync(process.env.HITCHPOST, ["token", "new"], { encoding: "utf8" }).stdout.trim().split("\n");
  const next = spawnSync(process.env.HITCHPOST, ["token", "new"], { encoding: "utf8" }).stdout.trim().split("\n");
  const entry = (name, hash) => `[[tokens]]\nname = "${name}"\ntoken = "${hash}"\nowner = "me"\n`;
  world.token = made[0];
  world.tokens = entry("one", made[1]) + entry("two", next[1]);
  world.configure("127.0.0.1:0", world.tokens);
  await world.serve();
  const tab = await world.session();
  await tab.run("think 1");
  await tab.page.fill("#message", "half a thought");
  tab.expected = /401/;
  world.configure(new URL(world.url).host, entry("two", next[1]));
  world.server.kill("SIGHUP");
  await tab.page.getByText("This token was revoked. Sign in again; drafts are kept.").waitFor();
  assert.equal(await tab.page.getByText("Thought 1 of 1").count(), 0, "what it may not see any more is off the screen");
  await tab.picture("revoked");
  await tab.page.getByLabel("Token").fill(next[0]);
  await tab.page.getByLabel("Token").press("Enter");
  await tab.page.getByText("Thought 1 of 1").waitFor();
  assert.equal(await tab.page.inputValue("#message"), "half a thought");
});

test("a token that may only watch has no box, and no button that would be refused", async (t) => {
  const world = await World.of(t, { waits: false });
  const [all, watch] = [0, 1].map(() => spawnSync(process.env.HITCHPOST, ["token", "new"], { encoding: "utf8" }).stdout.trim().split("\n"));
  world.token = all[0];
  world.tokens = `[[tokens]]\nname = "all"\ntoken = "${all[1]}"\nowner = "me"\n[[tokens]]\nname = "watch"\ntoken = "${watch[1]}"\nowner = "me"\nallow = ["watch"]\n`;
  world.configure("127.0.0.1:0", world.tokens);
  await world.serve();
  const tab = await world.session();
  await tab.say("run echo hi");
  await tab.page.locator(".ask").waitFor();
  const other = await world.open(new URL(tab.page.url()).pathname, { token: watch[0] });
  await other.page.locator(".ask").getByText("This token can watch only.").waitFor();
  await other.page.locator(".dock").getByText("This token can watch only.").waitFor();
  assert.equal(await other.page.locator("#message").count(), 0);
  await other.picture("watching");
});
