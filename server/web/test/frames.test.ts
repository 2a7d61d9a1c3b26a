// Single rules of the reducer (brief 12), and the store that feeds it.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Store } from "../src/app/store.ts";
import { Garbled } from "../src/app/probe.ts";
import { initialState, reduce } from "../src/state/reduce.ts";
import { timelineSelector } from "../src/state/timeline.ts";
import type { AppState, Input, Want } from "../src/state/types.ts";

const frame = (type: string, payload: object, seq?: number): Input => ({ is: "frame", text: JSON.stringify({ type, seq, payload }) });
const delta = (seq: number, text: string, field = "text") => frame("run.delta", { run_id: "r", entry_id: "m", field, delta: text }, seq);
const opened = () => reduce(initialState(), { is: "open", session: "s1" }, frame("run.started", { run_id: "r", session_id: "s1" }, 1));
const buffer = (state: AppState, field = "text") => state.open?.buffers.get(`m\0${field}`)?.text;
const interrupted = (seq: number, ...ids: string[]) =>
  frame("run.interrupted", { run_id: "r", pending: ids.map((id) => ({ tool_call_id: id, tool_name: "Bash", arguments: "{}" })) }, seq);
const standing = (state: AppState) => state.standing.get("s1")?.calls.map((c) => c.tool_call_id);

test("a numbered frame at or before the cursor is ignored", () => {
  const state = reduce(opened(), delta(2, "a"), delta(2, "a"), delta(1, "x"), delta(3, "b"));
  assert.equal(buffer(state), "ab");
});

test("an unknown field keeps its own buffer and is shown nowhere", () => {
  const state = reduce(opened(), delta(2, "a"), delta(3, "?", "mood"));
  assert.equal(buffer(state), "a");
  assert.equal(buffer(state, "mood"), "?");
  assert.ok(!JSON.stringify(timelineSelector()(state)).includes("?"));
});

test("a numbered frame behind the terminal one is a fault, counted and dropped", () => {
  const state = reduce(opened(), frame("run.output", { run_id: "r", final_output: "" }, 2), delta(3, "late"));
  assert.equal(state.faults, 1);
  assert.equal(buffer(state), undefined);
});

test("frames that are malformed or unknown are counted, and the rest goes on", () => {
  const state = reduce(opened(), { is: "frame", text: "{" }, frame("run.delta", { run_id: "r" }, 2), frame("run.weather", { run_id: "r" }, 2), delta(3, "a"));
  assert.deepEqual([state.malformedFrames, state.unknownFrames, buffer(state)], [2, 1, "a"]);
});

test("of a session that is not open only what waits and how it stands is kept", () => {
  const state = reduce(initialState(), frame("run.started", { run_id: "r", session_id: "s1" }, 1), delta(2, "a"), interrupted(3, "c1", "c2"));
  assert.deepEqual(standing(state), ["c1", "c2"]);
  assert.equal(state.open, null);
});

test("a standing call goes with a shorter list, with a resumed run, and with the end of its run", () => {
  let state = reduce(opened(), interrupted(2, "c1", "c2"));
  state = reduce(state, interrupted(3, "c2"));
  assert.deepEqual(standing(state), ["c2"]);
  assert.deepEqual(standing(reduce(state, frame("run.started", { run_id: "r", session_id: "s1", resumed: true }, 4))), []);
  assert.deepEqual(standing(reduce(state, frame("run.cancelled", { run_id: "r", reason: "stopped" }, 4))), []);
});

test("approvals that were asked for before a frame came do not overwrite it; those asked for later do", () => {
  let state = reduce(opened(), interrupted(2, "c1"));
  const early = state.tick;
  state = reduce(state, interrupted(3, "c2"));
  const approval = { tool_call_id: "c1", tool_name: "Bash", arguments: "{}", run_id: "r", session_id: "s1", created_at: "" };
  assert.deepEqual(standing(reduce(state, { is: "approvals", startedAt: early, approvals: [approval] })), ["c2"]);
  assert.deepEqual(standing(reduce(state, { is: "approvals", startedAt: state.tick, approvals: [] })), []);
});

test("what streamed of an ended run is dropped when the page was read again, not before", () => {
  let state = reduce(opened(), delta(2, "a"), frame("run.error", { run_id: "r", code: "internal", message: "" }, 3));
  const page = (startedAt: number): Input => ({ is: "page", page: { session: "s1", startedAt, logSeq: 3, entries: [], before: "", first: true } });
  assert.ok(state.wants.some((w) => w.want === "page"));
  state = reduce(state, page(1));
  assert.equal(buffer(state), "a");
  assert.equal(buffer(reduce(state, page(state.tick))), undefined);
});

test("a cursor from another life of the log opens the session anew", () => {
  const state = reduce(opened(), frame("run.error", { run_id: "r", code: "bad_frame", message: "beyond the tip" }));
  assert.ok(state.wants.some((w) => w.want === "reopen"));
});

test("an auth.ok of another log forgets what was read of the one before, one of the same log nothing", () => {
  const auth = (log_id: string) => frame("auth.ok", { owner: "o", allow: ["watch"], agents: null, log_id });
  const before = reduce(opened(), auth("one"), interrupted(2, "c1"));
  const same = reduce(before, auth("one"));
  assert.equal(same.runs.size, 1);
  assert.deepEqual(standing(same), ["c1"]);
  assert.ok(!same.wants.some((w) => w.want === "reopen"));
  const other = reduce(before, auth("two"));
  assert.equal(other.runs.size + other.rows.size + other.standing.size, 0);
  assert.ok(other.wants.some((w) => w.want === "reopen" && w.session === "s1"));
});

test("a page that lacks what was here before the connection opens the session anew: its log was replaced", () => {
  const one = (id: string, seq: number) => ({
    id, seq, kind: "item", parent_id: "", source: { type: "user" }, display: { kind: "message" }, usage: null, run_id: "r0", on_path: true, compacted: false,
    payload: { type: "message", role: "user", content: [{ type: "input_text", text: id }] }, created_at: "2026-08-18T04:10:01.000000Z",
  });
  const page = (state: AppState, logSeq: number, first: boolean, ...entries: unknown[]): AppState =>
    reduce(state, { is: "page", page: { session: "s1", startedAt: state.tick, logSeq, entries, before: "", first } });
  const reopens = (state: AppState): boolean => state.wants.some((w) => w.want === "reopen");
  let state = page(reduce(opened(), { is: "connected" }), 9, true, one("a", 3), one("b", 9));
  assert.equal(reopens(state), false, "nothing was here before");
  state = reduce(state, { is: "connected" });
  assert.equal(reopens(page(state, 9, true, one("a", 3), one("b", 9))), false);
  assert.equal(reopens(page(state, 200, false, one("c", 150))), false, "it does not go back that far");
  assert.equal(reopens(page(state, 5, true, one("a", 3))), true, "shorter");
  assert.equal(reopens(page(state, 20, true, one("a", 3), one("x", 7), one("y", 20))), true, "other entries");
});

test("a refusal that is no end of a run ends no run", () => {
  const state = reduce(opened(), frame("run.error", { run_id: "r", code: "run_not_found", message: "" }));
  assert.equal(state.runs.get("r")?.phase, "running");
});

test("the store applies what came in order, once a frame, and hands on what is wanted once", () => {
  const due: (() => void)[] = [];
  const wanted: Want[] = [];
  const store = new Store({ soon: (work) => due.push(work), clock: () => 0 }, (_, wants) => wanted.push(...wants));
  store.apply({ is: "open", session: "s1" });
  store.push(frame("run.started", { run_id: "r", session_id: "s1" }, 1));
  for (let seq = 2; seq < 2_000; seq++) {
    store.push(delta(seq, `${seq},`));
  }
  assert.equal(due.length, 1);
  assert.equal(store.now.runs.size, 0);
  due.splice(0).forEach((work) => work());
  assert.equal(buffer(store.now)?.split(",").length, 1_999);
  assert.equal(wanted.filter((w) => w.want === "page").length, 1);
  assert.deepEqual(store.now.wants, []);
});

test("the store lets the page paint when there is much to apply", () => {
  const due: (() => void)[] = [];
  let time = 0;
  const store = new Store({ soon: (work) => due.push(work), clock: () => (time += 10) }, () => undefined);
  store.apply({ is: "open", session: "s1" });
  store.push(frame("run.started", { run_id: "r", session_id: "s1" }, 1));
  for (let seq = 2; seq < 3_000; seq++) {
    store.push(delta(seq, "x"));
  }
  due.splice(0).forEach((work) => work());
  assert.ok((buffer(store.now)?.length ?? 0) < 2_998);
  assert.equal(due.length, 1);
  while (due.length > 0) {
    due.splice(0).forEach((work) => work());
  }
  assert.equal(buffer(store.now)?.length, 2_998);
});

test("three frames without sense within a minute are too many", () => {
  const garbled = new Garbled();
  const bad = (n: number): AppState => ({ ...initialState(), malformedFrames: n });
  assert.equal(garbled.tooMany(bad(1), 0), false);
  assert.equal(garbled.tooMany(bad(1), 1_000), false);
  assert.equal(garbled.tooMany(bad(2), 61_000), false);
  assert.equal(garbled.tooMany(bad(3), 62_000), false);
  assert.equal(garbled.tooMany(bad(4), 63_000), true);
});
