// Waiting texts: a chip stays until its entry is there, or a reading says that it is gone.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { InboxItem } from "../src/protocol.gen.ts";
import { initialState, reduce } from "../src/state/reduce.ts";
import type { AppState } from "../src/state/types.ts";

const item = (id: string, text: string): InboxItem => ({ input_id: id, queue: "steer", text, wake: false, queued_at: "2026-08-18T04:10:00.000000Z" });

const inbox = (...items: InboxItem[]) => ({ is: "frame", text: JSON.stringify({ type: "session.inbox", payload: { session_id: "s1", items } }) }) as const;

const entry = (id: string, seq: number, text: string) => ({
  is: "frame",
  text: JSON.stringify({
    type: "run.entry", seq, payload: {
      run_id: "r1", session_id: "s1", entry: {
        id, seq, kind: "item", parent_id: "", source: { type: "user" }, display: { kind: "message" }, usage: null,
        payload: { type: "message", role: "user", content: [{ type: "input_text", text }] }, run_id: "r1",
        created_at: "2026-08-18T04:10:01.000000Z", on_path: true, compacted: false,
      },
    },
  }),
}) as const;

const started = { is: "frame", text: '{"type":"run.started","seq":1,"payload":{"run_id":"r1","session_id":"s1"}}' } as const;
const shown = (state: AppState) => state.open?.inbox.map((i) => i.input_id);

test("a text that was read leaves its chip when its entry comes, not before", () => {
  let state = reduce(initialState(), { is: "open", session: "s1" }, started, inbox(item("a", "x"), item("b", "x"), item("c", "y")));
  state = reduce(state, inbox(item("c", "y")));
  assert.deepEqual(shown(state), ["a", "b", "c"]);
  state = reduce(state, entry("e1", 2, "x"));
  assert.deepEqual(shown(state), ["b", "c"]);
  state = reduce(state, entry("e2", 3, "x"));
  assert.deepEqual(shown(state), ["c"]);
});

test("an entry with the text of a chip that still waits takes nothing away", () => {
  const state = reduce(initialState(), { is: "open", session: "s1" }, started, inbox(item("a", "x")), entry("e1", 2, "x"));
  assert.deepEqual(shown(state), ["a"]);
});

test("a text whose entry came first leaves its chip at once", () => {
  let state = reduce(initialState(), { is: "open", session: "s1" }, started, inbox(item("a", "x")), entry("e1", 2, "x"));
  state = reduce(state, inbox());
  assert.deepEqual(shown(state), []);
});

test("a text that was taken back is gone when the inbox was read again", () => {
  let state = reduce(initialState(), { is: "open", session: "s1" }, inbox(item("a", "x")), { is: "wants_taken" });
  state = reduce(state, inbox());
  assert.deepEqual(state.wants, [{ want: "inbox", session: "s1" }]);
  assert.deepEqual(shown(state), ["a"]);
  state = reduce(state, { is: "inbox", session: "s1", startedAt: state.tick, items: [] });
  assert.deepEqual(shown(state), []);
});

test("an inbox whose reading began before a frame says nothing", () => {
  let state = reduce(initialState(), { is: "open", session: "s1" });
  const startedAt = state.tick;
  state = reduce(state, inbox(item("a", "x")), { is: "inbox", session: "s1", startedAt, items: [] });
  assert.deepEqual(shown(state), ["a"]);
});
