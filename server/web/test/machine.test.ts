// The connection's state machine, row by row (brief 11).

import assert from "node:assert/strict";
import { test } from "node:test";
import { initialMachine, ms, step, viewOf, type Effect, type Machine, type MachineEvent } from "../src/wire/machine.ts";

/** A machine with a clock that the test moves. */
class Line {
  m: Machine;
  now = 1_000_000;
  random = 0.5;
  token = true;
  done: Effect[] = [];

  constructor(online = true) {
    this.m = initialMachine(online, this.now);
  }

  on(event: MachineEvent, wait = 0): this {
    this.now += wait;
    const { machine, effects } = step(this.m, event, this.now, this.random, this.token);
    this.m = machine;
    this.done = [...effects];
    return this;
  }

  get socket(): number {
    return this.m.socket;
  }

  did(): string[] {
    return this.done.map((e) => e.do);
  }

  live(): this {
    return this.on({ on: "token" }).on({ on: "opened", socket: this.socket }).on({ on: "auth_ok", socket: this.socket }).on({ on: "caught_up" });
  }
}

test("a token begins to connect, and auth.ok begins to catch up", () => {
  const line = new Line().on({ on: "token" });
  assert.equal(line.m.phase, "connecting");
  assert.deepEqual(line.did(), ["dial"]);
  line.on({ on: "opened", socket: line.socket });
  assert.deepEqual(line.did(), ["authenticate"]);
  line.on({ on: "auth_ok", socket: line.socket });
  assert.equal(line.m.phase, "catching_up");
  assert.deepEqual(line.did(), ["connected"]);
  line.on({ on: "caught_up" });
  assert.equal(line.m.phase, "live");
  assert.equal(viewOf(line.m).downSince, 0);
});

test("a hole in a stream makes a live connection catch up again", () => {
  const line = new Line().live().on({ on: "fell_behind" });
  assert.equal(line.m.phase, "catching_up");
});

test("a close waits a random part of a delay that doubles up to 15 s", () => {
  const line = new Line().live();
  line.random = 0.999;
  const delays: number[] = [];
  for (let i = 0; i < 8; i++) {
    line.on({ on: "closed", socket: line.socket, code: 1006 });
    assert.equal(line.m.phase, "waiting");
    delays.push(Math.round((line.m.retryAt - line.now) / 999 * 1000));
    line.on({ on: "tick" }, line.m.retryAt - line.now);
    assert.equal(line.m.phase, "connecting");
  }
  assert.deepEqual(delays, [500, 1000, 2000, 4000, 8000, 15000, 15000, 15000]);
});

test("the delay is short again after ten seconds live, and not before", () => {
  const line = new Line().live();
  line.random = 0.999;
  for (const [wait, most] of [[1_000, 500], [9_000, 1_000], [11_000, 500]] as const) {
    line.on({ on: "closed", socket: line.socket, code: 1006 }, wait);
    assert.ok(line.m.retryAt - line.now <= most && line.m.retryAt - line.now > most / 2, `after ${wait} ms`);
    line.on({ on: "retry_now" }).on({ on: "auth_ok", socket: line.socket }).on({ on: "caught_up" });
  }
});

test("events of an old socket are ignored", () => {
  const line = new Line().live();
  const old = line.socket;
  line.on({ on: "closed", socket: old, code: 1006 });
  line.on({ on: "retry_now" });
  const before = line.m;
  for (const event of [{ on: "auth_ok", socket: old }, { on: "frame", socket: old }, { on: "closed", socket: old, code: 1008 }] as const) {
    line.on(event);
    assert.equal(line.m, before);
  }
});

test("close 1008 signs out: unknown if it was never taken, revoked if it was", () => {
  const fresh = new Line().on({ on: "token" });
  fresh.on({ on: "closed", socket: fresh.socket, code: 1008 });
  assert.deepEqual([fresh.m.phase, fresh.m.reason], ["signed_out", "token_unknown"]);
  assert.ok(fresh.did().includes("forget_token"));
  const known = new Line().live();
  known.on({ on: "closed", socket: known.socket, code: 1008 });
  assert.deepEqual([known.m.phase, known.m.reason], ["signed_out", "token_revoked"]);
  assert.ok(known.did().includes("disconnected"));
});

test("a REST answer 401 signs out, from wherever it comes", () => {
  assert.equal(new Line().live().on({ on: "rest", status: 401 }).m.phase, "signed_out");
  const waiting = new Line().on({ on: "token" });
  waiting.on({ on: "closed", socket: waiting.socket, code: 1006 }).on({ on: "rest", status: 401 });
  assert.equal(waiting.m.phase, "signed_out");
});

test("1001 says that the server restarts, until something else is known", () => {
  const line = new Line().live();
  line.on({ on: "closed", socket: line.socket, code: 1001 });
  assert.equal(line.m.reason, "restarting");
  line.on({ on: "retry_now" });
  line.on({ on: "closed", socket: line.socket, code: 1006 });
  assert.equal(line.m.reason, "restarting");
  line.on({ on: "retry_now" }).on({ on: "auth_ok", socket: line.socket });
  assert.equal(line.m.reason, "");
});

test("1009 is noted as our fault, and the page reconnects", () => {
  const line = new Line().live();
  line.on({ on: "closed", socket: line.socket, code: 1009 });
  assert.equal(line.m.phase, "waiting");
  assert.ok(line.did().includes("note"));
});

test("two closes before auth.ok ask over REST for the reason", () => {
  const line = new Line().on({ on: "token" });
  line.on({ on: "closed", socket: line.socket, code: 1006 });
  assert.ok(!line.did().includes("ask_why"));
  line.on({ on: "retry_now" });
  line.on({ on: "closed", socket: line.socket, code: 1006 });
  assert.ok(line.did().includes("ask_why"));
  line.on({ on: "rest", status: 429 });
  assert.equal(line.m.reason, "rate_limited");
  assert.ok(line.m.retryAt - line.now >= ms.maxDelay / 2);
  line.on({ on: "rest", status: 503 });
  assert.equal(line.m.reason, "server_error");
});

test("forty-five seconds of silence are probed, a frame puts it off", () => {
  const line = new Line().live();
  line.on({ on: "frame", socket: line.socket }, 44_000);
  line.on({ on: "tick" }, 44_000);
  assert.deepEqual(line.did(), []);
  line.on({ on: "tick" }, 1_000);
  assert.deepEqual(line.did(), ["probe"]);
  line.on({ on: "tick" }, 1_000);
  assert.deepEqual(line.did(), [], "one probe at a time");
  line.on({ on: "probe_ok" });
  assert.equal(line.m.phase, "live");
  line.on({ on: "tick" }, 45_000).on({ on: "probe_failed" });
  assert.equal(line.m.phase, "waiting");
  assert.deepEqual(line.did(), ["drop", "disconnected"]);
});

test("a tab that is seen again, and a network that is back, probe at once", () => {
  for (const on of ["visible", "online"] as const) {
    assert.deepEqual(new Line().live().on({ on }).did(), ["probe"]);
    const line = new Line().live();
    line.on({ on: "closed", socket: line.socket, code: 1006 }).on({ on });
    assert.equal(line.m.phase, "connecting");
  }
});

test("offline drops the socket and waits for online alone", () => {
  const line = new Line().live().on({ on: "offline" });
  assert.equal(line.m.phase, "offline");
  assert.deepEqual(line.did(), ["drop", "disconnected"]);
  line.on({ on: "tick" }, 60_000).on({ on: "visible" }).on({ on: "retry_now" });
  assert.equal(line.m.phase, "offline");
  line.on({ on: "online" });
  assert.equal(line.m.phase, "connecting");
});

test("a socket that never comes to auth.ok is given up", () => {
  const line = new Line().on({ on: "token" });
  line.on({ on: "opened", socket: line.socket }).on({ on: "tick" }, ms.auth);
  assert.equal(line.m.phase, "waiting");
});

test("a stream that makes no sense is begun anew", () => {
  assert.equal(new Line().live().on({ on: "garbled" }).m.phase, "waiting");
});

test("nothing but a token leads out of signed out", () => {
  const line = new Line();
  line.token = false;
  for (const event of [{ on: "tick" }, { on: "visible" }, { on: "online" }, { on: "retry_now" }, { on: "offline" }, { on: "rest", status: 200 }] as const) {
    assert.equal(line.on(event, 60_000).m.phase, "signed_out", event.on);
  }
});

test("it is down since the first loss until it is live again", () => {
  const line = new Line().live();
  line.on({ on: "closed", socket: line.socket, code: 1006 }, 5_000);
  const since = line.now;
  line.on({ on: "tick" }, 20_000);
  line.on({ on: "closed", socket: line.socket, code: 1006 }, 1_000);
  assert.equal(viewOf(line.m).downSince, since);
});
