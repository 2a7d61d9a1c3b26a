// What the browser tests stand on: a server of the built binary in a folder of its own on
// a free port, tabs that keep account of everything that goes wrong in them, and what is
// done and looked at in most of the tests.
//
// HITCHPOST names the binary; scripts/pagetest builds it. CHROMIUM names the browser,
// /usr/bin/chromium by default. PICTURES is the folder of the screenshots, by default
// hitchpost-pictures in the folder for temporary files.

import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after } from "node:test";
import { chromium } from "playwright-core";

const pictures = process.env.PICTURES ?? join(tmpdir(), "hitchpost-pictures");
const patience = 20_000; // ms that anything may take
export const wide = { width: 1440, height: 968 };

let launched = null;
/** One browser for all tests of a file. */
export function browser() {
  launched ??= chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });
  return launched;
}
if (process.env.NODE_TEST_CONTEXT) {
  after(async () => (await launched)?.close());
}

/** A server of this test alone. The limits are small, so that replays have holes. */
export class World {
  static async of(t, { settings = "", lines = "", waits = true } = {}) {
    const world = new World();
    world.folder = mkdtempSync(join(tmpdir(), "hitchpost-page-"));
    world.settings = settings;
    world.tabs = [];
    t.after(() => world.end(t));
    world.configure("127.0.0.1:0");
    if (lines !== "") {
      writeFileSync(join(world.folder, "sessions.jsonl"), lines);
      world.hitchpost("import", "sessions.jsonl");
    }
    if (waits) {
      await world.serve();
    }
    return world;
  }

  configure(listen, tokens = "") {
    writeFileSync(join(this.folder, "hitchpost.toml"), `listen = "${listen}"
replay_limit = 60
queue_limit = 20
${this.settings}
[agents.default]
policy = ["*"]
[agents.default.models]
default = "demo/guide"
[tools]
workspace = ["yard"]
${tokens}`);
    mkdirSync(join(this.folder, "yard"), { recursive: true });
  }

  /** Runs another command of the binary beside the log. */
  hitchpost(...words) {
    const done = spawnSync(process.env.HITCHPOST, words, { cwd: this.folder });
    assert.equal(done.status, 0, String(done.stderr));
  }

  /** Starts the server; again it has the address that it had. */
  async serve() {
    this.server = spawn(process.env.HITCHPOST ?? assert.fail("HITCHPOST is not set"), ["serve"], { cwd: this.folder, stdio: ["ignore", "ignore", "pipe"] });
    this.log = "";
    const address = await new Promise((resolve, reject) => {
      this.server.stderr.on("data", (piece) => {
        this.log += piece;
        const said = /msg=serving address=(\S+)/.exec(this.log);
        if (said) {
          resolve(said[1]);
        }
      });
      this.server.once("exit", () => reject(new Error(`the server ended: ${this.log}`)));
    });
    this.url = `http://${address}`;
    this.token ??= readFileSync(join(this.folder, "hitchpost.token"), "utf8").trim();
    this.configure(address, this.tokens);
  }

  async stop(signal) {
    const ended = new Promise((resolve) => this.server.once("exit", resolve));
    this.server.kill(signal);
    await ended;
    this.server = null;
  }

  async end(t) {
    for (const tab of this.tabs) {
      if (!t.passed) {
        await tab.page.screenshot({ path: picture(`failed ${t.name}`) }).catch(() => undefined);
      }
      await tab.context.close();
    }
    if (this.server) {
      await this.stop("SIGTERM");
    }
    rmSync(this.folder, { recursive: true, force: true });
    for (const tab of this.tabs) {
      assert.deepEqual(tab.problems, [], "the console of the page");
    }
  }

  /** A tab, by default signed in by the link of serve. */
  async open(path = "/", { context, token = this.token, ...view } = {}) {
    context ??= await (await browser()).newContext({ viewport: wide, timezoneId: "UTC", ...view });
    const tab = new Tab(this, context, await context.newPage());
    this.tabs.push(tab);
    await tab.page.goto(`${this.url}${path}${token === "" ? "" : `#token=${token}`}`);
    if (token !== "") {
      await tab.live();
    }
    return tab;
  }

  /** A tab with a new session. */
  async session(view) {
    const tab = await this.open("/", view);
    await tab.create();
    return tab;
  }

  write(name, text) {
    writeFileSync(join(this.folder, "yard", name), text);
  }

  async rest(path, init = {}) {
    return fetch(`${this.url}/api/v1/${path}`, { ...init, headers: { authorization: `Bearer ${this.token}`, ...init.headers } });
  }
}

/** A tab, and what went wrong in it: errors of scripts and console, what the policy or the network refused. */
export class Tab {
  constructor(world, context, page) {
    Object.assign(this, { world, context, page, problems: [], expected: /^$/ });
    page.setDefaultTimeout(patience);
    const wrong = (text) => this.expected.test(text) || this.problems.push(text);
    page.on("pageerror", (e) => wrong(`script: ${e.message}`));
    page.on("console", (m) => (m.type() === "error" || m.type() === "warning") && wrong(`console: ${m.text()}`));
    page.on("requestfailed", (r) => r.failure()?.errorText === "net::ERR_ABORTED" || wrong(`request: ${r.url()} ${r.failure()?.errorText}`));
    page.on("response", (r) => r.status() < 400 || wrong(`answer: ${r.status()} ${new URL(r.url()).pathname}`));
    page.on("request", (r) => r.url().startsWith(world.url) || /^(data|blob):/.test(r.url()) || wrong(`elsewhere: ${r.url()}`));
  }

  /** From here on the network is expected to fail, until it is back. */
  outage() {
    this.expected = /ERR_CONNECTION|ERR_INTERNET_DISCONNECTED|WebSocket|ERR_NETWORK|ERR_EMPTY_RESPONSE|ERR_INCOMPLETE/;
  }

  live() {
    return this.page.locator(".foot").getByText("Live", { exact: true }).waitFor({ state: "attached" });
  }

  async create() {
    const was = this.page.url();
    await this.page.getByLabel("New session").first().click();
    await this.page.waitForURL((u) => u.pathname.startsWith("/s/") && u.href !== was);
    await this.page.locator("#message").waitFor();
  }

  async say(text) {
    await this.page.fill("#message", text);
    await this.page.press("#message", "Enter");
  }

  /** Sends, and waits for the end of the run. */
  async run(text) {
    const before = await this.feet();
    await this.say(text);
    await this.until(`the end of “${text}”`, async () => (await this.feet()) > before);
  }

  feet() {
    return this.page.locator(".runfoot").count();
  }

  /** Presses a button of a question; it counts once the card has stood still. */
  async decide(name) {
    const button = this.page.locator(".ask").getByRole("button", { name });
    await button.waitFor();
    await this.until(`${name} is heard`, async () => {
      await button.click({ timeout: 1_000 }).catch(() => undefined);
      return (await this.page.locator(".ask").count()) === 0;
    });
  }

  button(name) {
    return this.page.getByRole("button", { name });
  }

  text() {
    return this.page.evaluate(() => (document.querySelector("[role=log]")?.innerText ?? "").replace(/\s+/g, " ").trim());
  }

  /** The thoughts of "think N" on the screen, which must be 1, 2, 3, … */
  async thoughts() {
    const numbers = [...(await this.text()).matchAll(/Thought (\d+) of/g)].map((m) => Number(m[1]));
    assert.deepEqual(numbers, numbers.map((_, i) => i + 1), "a piece is missing, doubled or out of place");
    return numbers.length;
  }

  async until(what, holds) {
    for (const end = Date.now() + patience; Date.now() < end; await new Promise((resolve) => setTimeout(resolve, 50))) {
      if (await holds()) {
        return;
      }
    }
    await this.picture(`never ${what}`);
    assert.fail(`never: ${what}; on the screen: ${(await this.text()).slice(-600)}`);
  }

  async sameAfterReload() {
    const was = await this.text();
    await this.page.reload();
    await this.live();
    await this.until(`after a reload: ${was.slice(-300)}`, async () => (await this.text()) === was);
  }

  picture(name) {
    return this.page.screenshot({ path: picture(name) });
  }

  /** What axe calls serious or critical. */
  async axe() {
    const session = await this.context.newCDPSession(this.page); // past the policy: the tool is not the page
    await session.send("Runtime.evaluate", { expression: axeSource() });
    const found = await this.page.evaluate(() => globalThis.axe.run(document, { resultTypes: ["violations"] }));
    return found.violations.filter((v) => v.impact === "serious" || v.impact === "critical").map((v) => `${v.id}: ${v.nodes.map((n) => n.target.join(" ")).join(", ")}`);
  }
}

let axe = "";
function axeSource() {
  axe ||= readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
  return axe;
}

function picture(name) {
  mkdirSync(pictures, { recursive: true });
  return join(pictures, `${name.replace(/[^\p{L}\p{N}]+/gu, "-").slice(0, 80)}.png`);
}

/**
 * A session as export writes it: runs of four entries, a text, a call, its result and an
 * answer. more: the last run holds this text and this result of a tool.
 */
export function sessionLines(id, entries, { text, result, call } = {}) {
  const at = (n) => new Date(Date.UTC(2026, 7, 18) + n * 1_000).toISOString().replace("Z", "000Z");
  const events = [];
  const put = (type, payload) => events.push({ id: events.length.toString(16).padStart(16, "0"), session_id: id, seq: events.length, at: at(events.length), type, payload });
  put("session/created", { parent_id: null });
  for (let run = 0; run < entries / 4; run++) {
    const last = run + 1 >= entries / 4;
    const usage = { prompt_tokens: 7, completion_tokens: 5, cost: null };
    const args = (last && call) || { file_path: `notes-${run}.md` };
    put("turn/start", { agent: "default" });
    put("step/start", { n: 1, model: "demo/guide" });
    put("user/message", { text: (last && text) || `Question ${run}: what does the ledger say of mule ${run}?`, input_id: `in-${run}` });
    put("assistant/message", { parts: [{ type: "tool_call", id: `call-${run}`, name: "Read", args }], usage });
    put("tool/call", { id: `call-${run}`, name: "Read", args });
    put("tool/result", { id: `call-${run}`, content: (last && result) || `1\t# Page ${run}\n2\tMule ${run} stands at the post.\n`, error: null, display: { kind: "tool", renderer: "text", summary: "2 lines", title: `Read notes-${run}.md` } });
    put("step/end", { n: 1, usage });
    put("step/start", { n: 2, model: "demo/guide" });
    put("assistant/message", { parts: [{ type: "text", text: (last && text) || `Answer ${run}. The ledger has **one line** of it:\n\n- \`notes-${run}.md\`, page ${run}\n- nothing else` }], usage });
    put("step/end", { n: 2, usage });
    put("turn/end", { status: "completed" });
  }
  const header = { hitchpost_export: 1, session_id: id, owner: "me", agent: "default", title: `${entries} entries`, parent_id: "", pinned: false, created_at: at(0), inbox: 0, seen: 0, events: events.length };
  return [header, ...events].map((line) => JSON.stringify(line)).join("\n") + "\n";
}
