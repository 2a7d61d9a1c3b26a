// Where things stand: the window of the timeline, the list under a pointer, local things,
// the rows of the log.

import assert from "node:assert/strict";
import { test } from "node:test";
import { EventType, type LogEvent } from "../src/protocol.gen.ts";
import type { SessionRow, TimelineItem } from "../src/state/types.ts";
import { Guard, guardTime } from "../src/ui/calls/guard.ts";
import { keepTry, keptTry, type Try } from "../src/ui/composer/try.ts";
import { Local } from "../src/ui/local.ts";
import { logRows, merged } from "../src/ui/panel/rows.ts";
import { patternsOf, wrongPatterns } from "../src/ui/panel/patterns.ts";
import { held } from "../src/ui/sessions/order.ts";
import { holds, runsOf } from "../src/ui/timeline/runs.ts";
import { around, earlier, grown, kept, later, most, newest, page, screenful, type Window } from "../src/ui/timeline/window.ts";

test("the document never holds more than 400 items, and loses none for good", () => {
  let w = newest(1_000);
  assert.deepEqual(w, { from: 800, to: 1_000 });
  for (let i = 0; i < 20; i++) {
    w = earlier(w);
    assert.ok(w.to - w.from <= most);
  }
  assert.equal(w.from, 0);
  for (let i = 0; i < 20; i++) {
    w = later(w, 1_000);
    assert.ok(w.to - w.from <= most);
  }
  assert.equal(w.to, 1_000);
});

test("a window opens with what fills the screen, and grows to the newest items in steps", () => {
  assert.deepEqual(screenful(700, 1_000), { from: 675, to: 700 });
  assert.deepEqual(screenful(3, 1_000), { from: 0, to: 3 });
  const steps: Window[] = [screenful(700, 1_000)];
  for (let next = grown(steps[0] as Window, 700); next !== steps.at(-1); next = grown(next, 700)) {
    assert.ok((steps.at(-1)?.from ?? 0) - next.from <= 50, "a step is no more than a frame can draw");
    steps.push(next);
  }
  assert.deepEqual(steps.at(-1), newest(700));
});

test("a run keeps its key when items come in above it and below it, also where it stands twice", () => {
  const all = [item("prose", "r1", "a"), item("prose", "r2", "b"), item("prose", "r1", "c"), item("prose", "r1", "d")];
  const keyOf = (items: readonly TimelineItem[], key: string) => runsOf(items).find((r) => r.items.some((i) => i.key === key))?.key;
  assert.equal(keyOf(all.slice(3), "d"), keyOf(all, "d"));
  assert.equal(keyOf(all.slice(2, 3), "c"), keyOf(all, "c"));
  assert.notEqual(keyOf(all, "a"), keyOf(all, "c"));
});

test("a window keeps its first item when others come before or behind it", () => {
  assert.deepEqual(kept({ from: 0, to: 200 }, 200, 300, 100), { from: 100, to: 300 }); // a page came before
  assert.deepEqual(kept({ from: 0, to: 200 }, 200, 201, 0), { from: 0, to: 201 }); // it follows the end
  assert.deepEqual(kept({ from: 0, to: 200 }, 900, 901, 0), { from: 0, to: 200 }); // it does not
  assert.deepEqual(kept({ from: 5, to: 200 }, 200, 50, -1), newest(50)); // another branch
  const found = around(500, 1_000);
  assert.ok(found.from <= 500 && 500 < found.to && found.to - found.from === 2 * page);
});

const row = (id: string, title = id): SessionRow => ({ id, title }) as SessionRow;

test("no row moves while somebody points at the list", () => {
  const before = { needs: [row("a")], pinned: [], recent: [row("b"), row("c")] };
  const now = { needs: [row("c", "new title")], pinned: [], recent: [row("d"), row("b")] };
  const shown = held(before, now);
  assert.deepEqual([shown.needs, shown.pinned, shown.recent].map((g) => g.map((r) => r.id)), [[], [], ["b", "c", "d"]]);
  assert.equal(shown.recent[1]?.title, "new title");
});

class Memory {
  readonly kept = new Map<string, string>();
  getItem = (key: string): string | null => this.kept.get(key) ?? null;
  setItem = (key: string, value: string): void => void this.kept.set(key, value);
  removeItem = (key: string): void => void this.kept.delete(key);
  key = (n: number): string | null => [...this.kept.keys()][n] ?? null;
  get length(): number {
    return this.kept.size;
  }
}

test("local things are kept an owner and a session, and cleared by signing out", () => {
  const memory = new Memory();
  memory.setItem("elsewhere", "stays");
  const local = new Local(memory);
  local.setOwner("ada");
  local.setDraft("s", "half a text");
  local.setFold("s", "e1", false);
  local.setReadMark("s", 12);
  assert.equal(local.draft("s"), "half a text");
  assert.equal(local.fold("s", "e1"), false);
  assert.equal(local.fold("s", "e2"), undefined);
  local.setOwner("bob");
  assert.equal(local.draft("s"), "");
  assert.equal(local.readMark("s"), -1);
  local.setOwner("ada");
  assert.equal(local.readMark("s"), 12);
  local.clear();
  assert.deepEqual([...memory.kept.keys()], ["elsewhere"]);
});

test("a text on its way is kept with its key as long as the draft holds it", () => {
  const local = new Local(new Memory());
  const t: Try = { text: "go", target: { to: "start" }, key: "k1", since: "", seq: 3, tried: true };
  assert.equal(keptTry(local, "s"), null);
  local.setDraft("s", "go");
  keepTry(local, "s", t);
  assert.deepEqual(keptTry(local, "s"), t);
  assert.equal(keptTry(local, "other"), null);
  local.setDraft("s", "go on");
  assert.equal(keptTry(local, "s"), null, "a changed text is another one");
  local.setDraft("s", "go");
  keepTry(local, "s", null);
  assert.equal(keptTry(local, "s"), null);
  for (const broken of ["{", "7", '{"text":"go"}']) {
    local.setOnItsWay("s", broken);
    assert.equal(keptTry(local, "s"), null);
  }
  keepTry(local, "s", t);
  local.forget("s");
  assert.equal(local.onItsWay("s"), "");
});

test("a text that is edited is kept with its entry, beside the draft, and goes with its session", () => {
  const memory = new Memory();
  const local = new Local(memory);
  local.setDraft("s", "a draft");
  local.setEdit("s", "e1", "one");
  local.setEdit("s", "e2", "two");
  local.setEdit("s2", "e1", "of another session");
  const later = new Local(memory);
  assert.deepEqual([later.draft("s"), later.edit("s", "e1"), later.edit("s", "e3")], ["a draft", "one", ""]);
  assert.deepEqual(later.edits("s").sort(), ["e1", "e2"]);
  later.setEdit("s", "e1", "");
  assert.deepEqual(later.edits("s"), ["e2"]);
  later.forget("s");
  assert.deepEqual([...memory.kept.values()], ["of another session"]);
});

test("a storage that refuses breaks nothing", () => {
  const refuses = (): never => {
    throw new Error("full");
  };
  const local = new Local({ getItem: refuses, setItem: refuses, removeItem: refuses, key: () => null, length: 0 });
  local.setDraft("s", "text");
  local.setTheme("dark");
  local.setFold("s", "e1", true);
  assert.equal(local.draft("s"), "text"); // for as long as the tab lives
  assert.equal(local.theme(), "dark");
  assert.equal(local.fold("s", "e1"), true);
  local.clear();
  assert.equal(local.fold("s", "e1"), undefined);
});

const event = (seq: number, type: string): LogEvent => ({ id: `e${seq}`, session_id: "s", seq, at: "", type, payload: { n: seq } });

test("chunks in a row become one row with their range, and unknown types look like all others", () => {
  const events = [event(1, EventType.TurnStart), event(2, EventType.AssistantChunk), event(3, EventType.AssistantChunk), event(4, "weather/report"), event(5, EventType.ToolProgress)];
  const rows = logRows(events, "", true);
  assert.deepEqual(rows.map((r) => (r.is === "fold" ? `${r.from}-${r.to}` : r.event.seq)), [1, "2-3", 4, 5]);
  assert.equal(logRows(events, "", false).length, 5);
  assert.deepEqual(logRows(events, "weather", true).length, 1);
});

test("what was read of the log joins without a hole", () => {
  const a = [event(4, "a"), event(5, "a")];
  assert.deepEqual(merged(a, [event(5, "a"), event(6, "a")]).map((e) => e.seq), [4, 5, 6]);
  assert.deepEqual(merged(a, [event(2, "a"), event(3, "a")]).map((e) => e.seq), [2, 3, 4, 5]);
  assert.deepEqual(merged(a, [event(9, "a")]).map((e) => e.seq), [9]);
});

test("a policy has at most 128 patterns of 256 characters", () => {
  assert.deepEqual(patternsOf(" Read \n\nmcp__*\n"), ["Read", "mcp__*"]);
  assert.equal(wrongPatterns(Array<string>(128).fill("x".repeat(256))), "");
  assert.match(wrongPatterns(Array<string>(129).fill("x")), /at most 128/);
  assert.match(wrongPatterns(["a", "x".repeat(257)]), /Pattern 2/);
});

test("a verdict counts only half a second after the card appeared, and after it moved", () => {
  const at = (top: number) => ({ top, left: 0 });
  const guard = new Guard(at(100), 0);
  assert.equal(guard.ready(at(100), guardTime - 1), false);
  assert.equal(guard.ready(at(100), guardTime), true);
  guard.moved(at(140), 1_000);
  assert.equal(guard.ready(at(140), 1_499), false);
  assert.equal(guard.ready(at(140), 1_500), true);
  assert.equal(guard.ready(at(300), 5_000), false, "a move that nobody told of counts from the click");
});

const item = (is: string, run: string, key: string): TimelineItem => ({ is, run, key }) as TimelineItem;

test("a text that another run answers stands on the rail of that run", () => {
  const runs = runsOf([item("user", "r1", "a"), item("foot", "r1", "f1"), item("prose", "r2", "b"), item("foot", "r2", "f2"), item("user", "r3", "c"), item("prose", "r3", "d")]);
  assert.deepEqual(runs.map((r) => [r.run, ...r.items.map((i) => i.key)]), [["r2", "a", "b", "f2"], ["r3", "c", "d"]]);
});

test("a run that was stopped at once keeps its note and its foot", () => {
  const runs = runsOf([item("user", "r1", "a"), item("cancelled", "r1", "n"), item("foot", "r1", "f1"), item("user", "r2", "b")]);
  assert.deepEqual(runs.map((r) => r.items.length), [3, 1]);
});

test("a text that did not arrive from another box stands before what is written", () => {
  const local = new Local(new Memory());
  local.handBack("s1", "edited");
  assert.equal(local.draft("s1"), "edited");
  local.setDraft("s1", "written");
  local.handBack("s1", "edited");
  assert.equal(local.draft("s1"), "edited\n\nwritten");
});

test("a draft follows what another tab writes, but not while somebody writes here", () => {
  const memory = new Memory();
  const local = new Local(memory);
  local.setOwner("ada");
  local.setDraft("s", "mine");
  const key = "hitchpost:ada:draft:s";
  memory.setItem(key, "theirs");
  local.followed(key, true);
  assert.equal(local.draft("s"), "mine");
  local.followed("hitchpost:ada:read:s", false);
  assert.equal(local.draft("s"), "mine", "something else was written");
  local.followed(key, false);
  assert.equal(local.draft("s"), "theirs");
  memory.removeItem(key);
  local.followed(key, false);
  assert.equal(local.draft("s"), "");
});

test("an address leads to a call in a group, and to what a call gave", () => {
  const call = (key: string, result: string) => ({ is: "call", key, result: { id: result } }) as unknown as TimelineItem;
  assert.ok(holds(call("c1", "o1"), "c1"));
  assert.ok(holds(call("c1", "o1"), "o1"));
  assert.ok(!holds(call("c1", "o1"), "o2"));
  for (const is of ["group", "folded"]) {
    const together = { is, key: "c1:group", calls: [call("c1", "o1"), call("c2", "o2")] } as unknown as TimelineItem;
    assert.ok(holds(together, "c2"));
    assert.ok(holds(together, "o1"));
    assert.ok(!holds(together, "c3"));
  }
  assert.ok(holds({ is: "prose", key: "m1" } as unknown as TimelineItem, "m1"));
});
