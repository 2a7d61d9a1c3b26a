// The page in a real browser on a real server with its demo model:
//
//	go build -o /some/folder/hitchpost . && HITCHPOST=/some/folder/hitchpost npm run e2e --prefix server/web
//
// CHROMIUM names the browser, /usr/bin/chromium if it is not set.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { chromium } from "playwright-core";

const port = 17_911;
const url = `http://127.0.0.1:${port}`;
const folder = mkdtempSync(join(tmpdir(), "hitchpost-page-"));
let server;
let browser;

/** Starts the server in its folder; small limits, so that replays have holes. */
async function serve() {
  server = spawn(process.env.HITCHPOST ?? assert.fail("HITCHPOST is not set"), ["serve"], { cwd: folder, stdio: ["ignore", "ignore", "inherit"] });
  for (let tries = 0; tries < 100; tries++) {
    const answer = await fetch(`${url}/healthz`).catch(() => null);
    if (answer?.ok) {
      return;
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  assert.fail("the server does not come up");
}

async function stop(signal) {
  const ended = new Promise((resolve) => server.once("exit", resolve));
  server.kill(signal);
  await ended;
}

before(async () => {
  writeFileSync(join(folder, "hitchpost.toml"), `listen = "127.0.0.1:${port}"
replay_limit = 60
queue_limit = 20
[agents.default]
policy = ["*"]
[agents.default.models]
default = "demo/guide"
[approvals]
enabled = true
`);
  await serve();
  browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });
});

after(async () => {
  await browser?.close();
  await stop("SIGTERM");
  rmSync(folder, { recursive: true, force: true });
});

/** A tab that is signed in, and what went wrong in it. */
async function openTab(context, path = "/") {
  const tab = await context.newPage();
  const problems = [];
  tab.on("pageerror", (e) => problems.push(e.message));
  tab.on("console", (m) => m.type() === "error" && !/ERR_CONNECTION|WebSocket|Failed to load/.test(m.text()) && problems.push(m.text()));
  tab.on("request", (r) => new URL(r.url()).host === `127.0.0.1:${port}` || r.url().startsWith("data:") || problems.push(r.url()));
  await tab.goto(`${url}${path}#token=${readFileSync(join(folder, "hitchpost.token"), "utf8").trim()}`);
  await tab.getByText("Live", { exact: true }).first().waitFor();
  return { tab, problems };
}

/** A tab with a new session. */
async function newSession() {
  const context = await browser.newContext({ viewport: { width: 1400, height: 900 } });
  const { tab, problems } = await openTab(context);
  const was = tab.url();
  await tab.getByLabel("New session").first().click();
  await tab.waitForURL((u) => u.pathname.startsWith("/s/") && u.href !== was);
  return { context, tab, problems };
}

async function say(tab, text) {
  await tab.fill("#message", text);
  await tab.press("#message", "Enter");
}

const shown = (tab) => tab.evaluate(() => (document.querySelector("[role=log]")?.innerText ?? "").replace(/\s+/g, " "));

/** The thoughts of "think N" on the screen, which must be 1, 2, 3, … */
async function thoughts(tab) {
  const numbers = [...(await shown(tab)).matchAll(/Thought (\d+) of/g)].map((m) => Number(m[1]));
  assert.deepEqual(numbers, numbers.map((_, i) => i + 1), "a piece is missing, doubled or out of place");
  return numbers.length;
}

async function until(what, holds) {
  for (let tries = 0; tries < 150; tries++) {
    if (await holds()) {
      return;
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  assert.fail(`never: ${what}`);
}

async function sameAfterReload(tab) {
  const was = await shown(tab);
  await tab.reload();
  await until("the same after a reload", async () => (await shown(tab)) === was);
}

test("a run that streams is whole after a reload in the middle of it, and a reload at its end shows the same", async () => {
  const { tab, problems } = await newSession();
  await say(tab, "think 150");
  await until("eighty thoughts", async () => (await thoughts(tab)) >= 80);
  await tab.reload();
  await until("all thoughts", async () => (await thoughts(tab)) === 150);
  await tab.getByText("1 step").waitFor();
  await sameAfterReload(tab);
  assert.deepEqual(problems, []);
});

test("a page that stood still for seconds catches up without a hole", async () => {
  const { tab, problems } = await newSession();
  await say(tab, "think 250");
  await until("some thoughts", async () => (await thoughts(tab)) >= 10);
  await tab.evaluate(() => {
    for (const until = performance.now() + 3_000; performance.now() < until;);
  });
  await until("all thoughts", async () => (await thoughts(tab)) === 250);
  assert.deepEqual(problems, []);
});

test("a call that was approved in one tab is decided in the other", async () => {
  const { context, tab, problems } = await newSession();
  await say(tab, "run echo hi");
  await tab.getByRole("button", { name: /^Approve/ }).waitFor();
  const other = await openTab(context, new URL(tab.url()).pathname);
  const button = other.tab.getByRole("button", { name: /^Approve/ });
  await button.waitFor();
  await until("a button that may be used", async () => {
    await button.click({ timeout: 1_000 }).catch(() => undefined);
    return (await button.count()) === 0;
  });
  await until("no question any more", async () => (await tab.getByRole("button", { name: /^Approve/ }).count()) === 0);
  await until("the same in both", async () => (await shown(tab)) === (await shown(other.tab)) && (await shown(tab)).includes("step"));
  assert.deepEqual([...problems, ...other.problems], []);
});

test("a server that is killed in the middle of a run is back with all that was shown", async () => {
  const { tab, problems } = await newSession();
  await say(tab, "think 5000");
  await until("some thoughts", async () => (await thoughts(tab)) >= 40);
  await stop("SIGKILL");
  await tab.getByText("No connection.").waitFor();
  const had = await thoughts(tab);
  await serve();
  await tab.getByText("Paused in the middle of a run.").waitFor({ timeout: 30_000 });
  assert.ok((await thoughts(tab)) >= had);
  await sameAfterReload(tab);
  assert.deepEqual(problems, []);
});

test("a text that is edited and an answer that is given anew keep what was there", async () => {
  const { tab, problems } = await newSession();
  await say(tab, "think 2");
  await tab.getByText("1 step").waitFor();
  await tab.getByRole("button", { name: /Regenerate/ }).first().click({ force: true });
  await tab.getByText("2 / 2").waitFor();
  await tab.getByRole("button", { name: /^Edit/ }).first().click({ force: true });
  await tab.keyboard.press("ControlOrMeta+A");
  await tab.keyboard.type("think 3");
  await tab.getByText("Send as a new attempt").click();
  await until("the new answer", async () => (await shown(tab)).includes("Thought 3 of 3"));
  await tab.getByRole("button", { name: /revious attempt/ }).first().click({ force: true });
  await until("the old answer", async () => (await shown(tab)).includes("Thought 2 of 2"));
  await sameAfterReload(tab);
  assert.deepEqual(problems, []);
});

test("a waiting text comes back into the box, and a stop shows what had arrived", async () => {
  const { tab, problems } = await newSession();
  await say(tab, "think 5000");
  await until("some thoughts", async () => (await thoughts(tab)) >= 10);
  await say(tab, "wait for me");
  await until("an empty box", async () => (await tab.inputValue("#message")) === "");
  await tab.press("#message", "ArrowUp");
  await until("the text in the box", async () => (await tab.inputValue("#message")) === "wait for me");
  await tab.locator("#stop").click();
  await tab.getByText("Stopped. The text above is what had arrived.").waitFor();
  assert.ok((await thoughts(tab)) >= 10);
  await sameAfterReload(tab);
  assert.deepEqual(problems, []);
});

test("nothing in a text runs or is fetched", async () => {
  const { tab, problems } = await newSession();
  await say(tab, "<img src=https://evil.example/x.png onerror=\"window.bad=1\"><script>window.bad=1</script> [x](javascript:window.bad=1)");
  await until("an answer", async () => (await shown(tab)).includes("step"));
  assert.equal(await tab.evaluate(() => window.bad), undefined);
  assert.equal(await tab.locator("[role=log] img, [role=log] script, [role=log] a[href^=javascript]").count(), 0);
  assert.deepEqual(problems, []);
});
