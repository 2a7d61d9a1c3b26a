// What entries become on the screen.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Entry, Session } from "../src/protocol.gen.ts";
import { initialState, reduce } from "../src/state/reduce.ts";
import { timelineSelector } from "../src/state/timeline.ts";
import type { AppState, TimelineItem } from "../src/state/types.ts";
import { drawnFor } from "../src/ui/timeline/runs.ts";

type Part = Partial<Entry> & { on_path?: boolean };

let seq = 0;
let last = "";

function entry(run: string, source: string, payload: unknown, more: Part = {}): Entry {
  seq++;
  const made = {
    id: `e${seq}`, seq, kind: "item", parent_id: last, source: { type: source }, display: { kind: "message" }, usage: null,
    payload, run_id: run, created_at: `2026-08-18T04:10:${String(seq).padStart(2, "0")}.000000Z`, on_path: true, compacted: false, ...more,
  } as Entry;
  last = made.id;
  return made;
}

const user = (run: string, text: string, more?: Part) =>
  entry(run, "user", { type: "message", role: "user", content: [{ type: "input_text", text }] }, more);
const answer = (run: string, text: string, more?: Part) =>
  entry(run, "model", { id: "", type: "message", role: "assistant", status: "completed", content: text === "" ? [] : [{ type: "output_text", text, annotations: [] }] }, more);
const call = (run: string, id: string, name = "Read") =>
  entry(run, "model", { id: "", type: "function_call", status: "completed", call_id: id, name, arguments: "{}" });
const output = (run: string, id: string, text: string, display: object = { kind: "tool" }) =>
  entry(run, "tool", { type: "function_call_output", call_id: id, output: text }, { display } as Part);

/** A session whose log holds these entries, with nothing going on. */
function idle(...entries: Entry[]): AppState {
  const row: Session = {
    id: "s1", title: "", agent: "default", pinned: false, parent_id: null, created_at: "", updated_at: "", last_seq: seq, bytes: 0,
    status: "idle", pending_count: 0, pending: [],
  };
  const state = reduce(initialState(), { is: "open", session: "s1" });
  const at = state.tick;
  return reduce(state, { is: "list", startedAt: at, sessions: [row] },
    { is: "page", page: { session: "s1", startedAt: at, logSeq: seq, entries, before: "", first: true } });
}

function fresh(): void {
  seq = 0;
  last = "";
}

const kinds = (state: AppState) => timelineSelector()(state).items.map((i) => i.is);

function only<K extends TimelineItem["is"]>(state: AppState, is: K): Extract<TimelineItem, { is: K }> {
  const found = timelineSelector()(state).items.filter((i) => i.is === is);
  assert.equal(found.length, 1, `${found.length} items are ${is}`);
  return found[0] as Extract<TimelineItem, { is: K }>;
}

test("calls with no other entry between them are a group, and only its first tells how long it took", () => {
  fresh();
  const state = idle(user("r", "go"), answer("r", ""), call("r", "a"), call("r", "b"), output("r", "a", "1"), output("r", "b", "2"), answer("r", "done"));
  assert.deepEqual(kinds(state), ["user", "group", "prose", "foot"]);
  const { calls } = only(state, "group");
  assert.deepEqual(calls.map((c) => [c.callId, c.state, c.output]), [["a", "done", "1"], ["b", "done", "2"]]);
  assert.deepEqual(calls.map((c) => c.duration), [2_000, null]);
});

test("finished good calls of serial steps without text between them become one line", () => {
  fresh();
  const state = idle(
    user("r", "go"), answer("r", ""), call("r", "a"), output("r", "a", ""), answer("r", ""), call("r", "b"), output("r", "b", ""),
    answer("r", "text"), call("r", "c"), output("r", "c", ""), answer("r", "end"));
  assert.deepEqual(kinds(state), ["user", "folded", "prose", "call", "prose", "foot"]);
  assert.deepEqual(only(state, "folded").calls.map((c) => c.callId), ["a", "b"]);
});

test("a call that failed is never folded away", () => {
  fresh();
  const state = idle(
    user("r", "go"), answer("r", ""), call("r", "a"), output("r", "a", "no", { kind: "tool", is_error: true }), answer("r", ""),
    call("r", "b"), output("r", "b", ""), answer("r", ""));
  assert.deepEqual(kinds(state), ["user", "call", "call", "foot"]);
});

test("a call whose run is over and that has no output is neither running nor done", () => {
  fresh();
  const state = idle(user("r", "go"), answer("r", ""), call("r", "a"));
  assert.equal(only(state, "call").state, "open");
});

test("one call id in two runs is two calls, each with its own output", () => {
  fresh();
  const state = idle(user("r", "1"), call("r", "a"), output("r", "a", "first"), user("q", "2"), call("q", "a"), output("q", "a", "second"));
  const calls = timelineSelector()(state).items.filter((i) => i.is === "call");
  assert.deepEqual(calls.map((c) => c.output), ["first", "second"]);
});

test("the foot of a run sums what providers told, and says when some of it is missing", () => {
  fresh();
  const whole = idle(user("r", "go"), answer("r", "a", { usage: { input_tokens: 10, output_tokens: 1, cost: 0.5 } }), answer("r", "b", { usage: { input_tokens: 20, output_tokens: 2 } }));
  const { foot } = only(whole, "foot");
  assert.deepEqual([foot.steps, foot.inputTokens, foot.outputTokens, foot.cost, foot.partial, foot.duration], [2, 30, 3, 0.5, false, 2_000]);
  assert.equal(foot.text, "a\n\nb");
  fresh();
  const part = idle(user("r", "go"), answer("r", "a", { usage: { input_tokens: 10, output_tokens: null } }), answer("r", "b"));
  assert.deepEqual([only(part, "foot").foot.inputTokens, only(part, "foot").foot.partial, only(part, "foot").foot.cost], [10, true, null]);
});

test("an answer given anew leaves one text, one foot, and both attempts", () => {
  fresh();
  const text = user("r", "go");
  const old = answer("r", "old", { on_path: false });
  last = text.id;
  const anew = answer("q", "anew");
  const state = idle(text, old, anew);
  assert.deepEqual(kinds(state), ["user", "prose", "foot"]);
  const { foot } = only(state, "foot");
  assert.deepEqual(foot.attempt, { index: 1, ids: [old.id, anew.id] });
  assert.equal(foot.userEntry, text.id);
});

test("a text that was edited has both attempts, and the path goes on from the newer one", () => {
  fresh();
  const old = user("r", "old", { on_path: false });
  last = "";
  const edited = user("q", "new");
  const state = idle(old, edited, answer("q", "yes"));
  assert.deepEqual(only(state, "user").attempt, { index: 1, ids: [old.id, edited.id] });
  assert.equal(only(state, "user").text, "new");
});

test("what stands before a checkpoint is marked, and stays", () => {
  fresh();
  const state = idle(user("r", "go"), answer("r", "a"), entry("", "compaction", { summary: "short", upto_seq: 2 }, { kind: "compaction" }), user("q", "on"));
  const items = timelineSelector()(state).items;
  assert.deepEqual(items.map((i) => [i.is, i.compacted]), [["user", true], ["prose", true], ["foot", true], ["compaction", false], ["user", false], ["foot", false]]);
});

test("what this version does not know is shown as that", () => {
  fresh();
  const state = idle(entry("r", "weather", { sky: "clear" }, { kind: "forecast" }), entry("r", "model", { type: "hologram" }));
  assert.deepEqual(kinds(state), ["unknown", "unknown", "foot"]);
});

test("an address of an answer that only calls leads to the first of its calls", () => {
  fresh();
  const asks = user("r", "go");
  const silent = answer("r", "");
  const first = call("r", "a");
  const state = idle(asks, silent, first, call("r", "b"), output("r", "a", "1"), output("r", "b", "2"), answer("r", "done"));
  const { items } = timelineSelector()(state);
  assert.equal(drawnFor(state.open, items, silent.id), first.id);
  assert.equal(drawnFor(state.open, items, first.id), first.id, "what is drawn is marked itself");
  assert.equal(drawnFor(state.open, items, "e99"), "e99", "what is not here is read, and then looked for again");
  fresh();
  const cut = idle(user("r", "go"), answer("r", ""), user("q", "on"));
  assert.equal(drawnFor(cut.open, timelineSelector()(cut).items, "e2"), "e2", "another run is no part of it");
});

test("items that did not change are the objects that they were", () => {
  fresh();
  let state = idle(user("r", "go"), answer("r", "a"), call("r", "x"), output("r", "x", ""), user("q", "on"), answer("q", "b"));
  const select = timelineSelector();
  const before = select(state).items;
  const next = answer("q", "c");
  state = reduce(state, { is: "page", page: { session: "s1", startedAt: state.tick, logSeq: seq, entries: [next], before: "", first: true } });
  const after = select(state).items;
  assert.equal(after.length, before.length + 1);
  for (const [i, item] of before.slice(0, -1).entries()) {
    assert.equal(after[i], item, `item ${i}, ${item.is}`);
  }
});
