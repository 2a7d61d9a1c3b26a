// Numbers, times, texts and addresses as the page says them.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Call, Entry, SessionRow } from "../src/state/types.ts";
import { spans, stripped } from "../src/ui/ansi.ts";
import { indented, readArguments, subject } from "../src/ui/calls/arguments.ts";
import { cutLines } from "../src/ui/calls/cut.ts";
import { readTable } from "../src/ui/calls/table.ts";
import { callOutcome } from "../src/ui/calls/outcome.ts";
import { parseDiff } from "../src/ui/diff.ts";
import { visible } from "../src/ui/escape.ts";
import { age, cost, count, duration, position, size, tokens } from "../src/ui/format.ts";
import { summed } from "../src/ui/header.tsx";
import { commandOf } from "../src/ui/keyboard.ts";
import { matches } from "../src/ui/sessions/order.ts";
import { parseRoute, routePath, toSession } from "../src/ui/route.ts";
import { footWords } from "../src/ui/timeline/notes.tsx";
import { favicon, tabTitle } from "../src/ui/title.ts";
import { cancelWords, isCancelReason, refusal, sessionLook, titleOf } from "../src/ui/words.ts";

test("numbers have a thin space", () => {
  assert.equal(count(4117), "4\u202f117");
  assert.equal(count(1234567), "1\u202f234\u202f567");
  assert.equal(position(999), "#999");
  assert.equal(tokens(18_432), "18.4k");
  assert.equal(tokens(950), "950");
  assert.equal(size(1_200_000), "1.2\u202fMB");
  assert.equal(cost(0.031), "$0.031");
});

test("durations read like a person says them", () => {
  const said = { 0: "1 ms", 12: "12 ms", 99.6: "0.1 s", 200: "0.2 s", 41_000: "41 s", 232_000: "3 min 52 s", 600_000: "10 min", 7_500_000: "2 h 5 min", 59_600: "1 min" };
  for (const [ms, words] of Object.entries(said)) {
    assert.equal(duration(Number(ms)), words);
  }
});

test("an age gets coarser the older it is", () => {
  const now = new Date(2026, 10, 29, 14, 6, 40).getTime();
  const before = (minutes: number) => age(new Date(now - minutes * 60_000).toISOString(), now);
  assert.equal(before(0.5), "now");
  assert.equal(before(12), "12 min");
  assert.equal(before(70), "1 h");
  assert.equal(before(11 * 60 + 6), "03:00");
  assert.equal(before(26 * 60), "yesterday");
  assert.equal(before(3 * 24 * 60), "Thu");
  assert.equal(before(103 * 24 * 60), "18 Aug");
  assert.equal(before(500 * 24 * 60).slice(-4), "2025");
});

test("what cannot be seen in an argument stands as an escape", () => {
  const shown = (text: string) => visible(text).map((p) => (p.escaped ? `<${p.text}>` : p.text)).join("");
  assert.equal(shown("notes\u202etxt.exe"), "notes<\\u202E>txt.exe");
  assert.equal(shown("a\u200bb\u0000c\u001b[31m"), "a<\\u200B>b<\\u0000>c<\\u001B>[31m");
  assert.equal(shown("tag\u{e0041}"), "tag<\\u{E0041}>");
  assert.equal(shown("line\none\ttab é 漢 🙂"), "line\none\ttab é 漢 🙂");
  assert.equal(shown("no\u00a0break\u2066x\ufeff"), "no<\\u00A0>break<\\u2066>x<\\uFEFF>");
  assert.equal(shown("\ud800"), "<\\uD800>");
});

test("indenting JSON changes no token", () => {
  assert.equal(indented('{"a":12345678901234567890,"a":[],"b":{"c":"x,{}\\"y"}}'), '{\n  "a": 12345678901234567890,\n  "a": [],\n  "b": {\n    "c": "x,{}\\"y"\n  }\n}');
  const odd = '{"a":1,';
  assert.equal(indented(odd).replace(/\s/g, ""), odd);
});

test("the main field of arguments is named, the rest is not forgotten", () => {
  assert.deepEqual([readArguments('{"command":"ls"}').main, readArguments('{"command":"ls"}').more], ["ls", false]);
  assert.equal(readArguments('{"command":"ls","host":"prod"}').more, true);
  assert.equal(readArguments("no json").main, "no json");
  assert.equal(readArguments('{"id":4117}').main, "");
  assert.equal(subject('{"id":4117}'), '{"id":4117}');
  assert.equal(subject("{}"), "");
});

test("terminal colours are ours or none, and control sequences no text", () => {
  assert.deepEqual(spans("\u001b[31mred\u001b[0m plain"), [{ text: "red", style: "ansi-red" }, { text: " plain", style: "" }]);
  assert.deepEqual(spans("\u001b[38;5;196mx\u001b[1my"), [{ text: "x", style: "" }, { text: "y", style: "ansi-bold" }]);
  assert.equal(stripped("\u001b]0;title\u0007a\u001b[2Kb"), "ab");
  assert.equal(stripped("10%\r50%\r100%\ndone\r\n"), "100%\ndone\n");
});

test("a diff is counted, numbered, and its changed words are found", () => {
  const diff = parseDiff("--- a\n+++ a\n@@ -1,2 +1,2 @@ func\n same\n-old word here\n+new word here\n[3 more lines]\n");
  assert.ok(diff);
  assert.deepEqual([diff.added, diff.removed, diff.rest], [1, 1, "[3 more lines]"]);
  const [same, removed, added] = diff.hunks[0]?.lines ?? [];
  assert.deepEqual([same?.number, removed?.number, added?.number], [1, 2, 2]);
  assert.deepEqual(removed?.changed, [0, 3]);
  assert.equal(parseDiff("no diff at all"), null);
});

test("lines that have little in common are not compared word by word", () => {
  const diff = parseDiff("@@ -1 +1 @@\n-  tip := l.tip.Load()\n+  l.mu.Lock()\n");
  assert.equal(diff?.hunks[0]?.lines[0]?.changed, undefined);
});

test("a pane is cut on whole lines and says how many are missing", () => {
  const text = Array.from({ length: 157 }, (_, i) => `line ${i + 1}`).join("\n") + "\n";
  const tail = cutLines(text, 12, true);
  assert.deepEqual([tail.lines, tail.hidden, tail.text.split("\n").length], [157, 145, 12]);
  assert.ok(tail.text.endsWith("line 157"));
  assert.equal(cutLines(text, 0, true).text, text.trimEnd());
  assert.equal(cutLines("a\nb\n", 12, true).cut, false);
  const long = cutLines("x".repeat(5_000), 12, false);
  assert.ok(long.cut && long.text.length < 2_100);
  assert.equal(cutLines("x".repeat(5_000), 0, false).text.length, 5_000);
});

test("a table is read from columns and rows, or from a list of objects", () => {
  const table = readTable({ columns: ["status", "n"], rows: [["running", 12], ["idle", 2]] });
  assert.deepEqual(table?.numeric, [false, true]);
  assert.deepEqual(readTable('[{"a":1,"b":null}]')?.rows, [["1", ""]]);
  assert.equal(readTable("text"), null);
  assert.equal(readTable([1, 2]), null);
});

test("an address says what it leads to, both ways", () => {
  for (const address of ["/", "/s/main", "/s/a%2Fb?e=e1", "/s/main?log=1554", "/s/main?log", "/s/main?settings", "/s/main?e=e1&log=12"]) {
    const [path, query = ""] = address.split("?");
    assert.equal(routePath(parseRoute(path ?? "", query)), address);
  }
  assert.deepEqual(parseRoute("/s/main", ""), toSession("main"));
  assert.equal(parseRoute("/s/%E0%A4%A", "").at, "unknown");
  assert.equal(parseRoute("/elsewhere", "").at, "unknown");
});

test("the tab says how many calls wait", () => {
  assert.equal(tabTitle(2, "Fix"), "(2) Fix · Hitchpost");
  assert.equal(tabTitle(0, ""), "Hitchpost");
  assert.notEqual(favicon(1), favicon(0));
  assert.ok(favicon(1).startsWith("data:image/svg+xml,"));
});

test("single letters are no commands in a field, for an input method, or switched off", () => {
  const press = { key: "l", ctrl: false, meta: false, alt: false, repeat: false, composing: false, inField: false, singleKeys: true };
  assert.equal(commandOf(press), "log");
  assert.equal(commandOf({ ...press, inField: true }), null);
  assert.equal(commandOf({ ...press, composing: true }), null);
  assert.equal(commandOf({ ...press, singleKeys: false }), null);
  assert.equal(commandOf({ ...press, ctrl: true }), null);
  assert.equal(commandOf({ ...press, key: ".", meta: true, inField: true }), "stop");
  assert.equal(commandOf({ ...press, key: "Escape" }), "leave");
  for (const key of ["a", "d", " ", "Enter"]) {
    assert.equal(commandOf({ ...press, key }), null, "no key of the page decides anything");
  }
});

test("a foot counts what is known and says what is not", () => {
  const foot = { steps: 3, duration: 252_000, inputTokens: 18_432, outputTokens: 2_104, partial: false, cost: 0.031, attempt: null, userEntry: "", lastEntry: "", text: "" };
  assert.equal(footWords(foot), "3 steps · 4 min 12 s · 18.4k in, 2.1k out · $0.031");
  assert.equal(footWords({ ...foot, steps: 1, cost: null, partial: true }), "1 step · 4 min 12 s · at least 18.4k in, 2.1k out · cost not reported");
  assert.equal(footWords({ ...foot, inputTokens: null, outputTokens: null, cost: null }), "3 steps · 4 min 12 s · cost not reported");
});

test("a sum of costs is told only where every provider told one", () => {
  const used = (cost?: number): Entry => ({ usage: { input_tokens: 10, output_tokens: null, ...(cost === undefined ? {} : { cost }) } }) as Entry;
  assert.deepEqual(summed([used(0.5), used(0.25)]), { input: 20, output: 0, cost: 0.75 });
  assert.equal(summed([used(0.5), used()])?.cost, null);
  assert.equal(summed([{ usage: null } as Entry]), null);
});

test("a refusal says what is so and what still works", () => {
  const said = (code: string, message = "") => refusal({ ok: false, code, status: 400, message });
  assert.equal(said("config_error", "no model"), "The agent cannot start: no model");
  assert.equal(said("persist_error", "disk full"), "The server cannot write: disk full. Reading still works.");
  assert.equal(said("rate_limited"), "Too many tries from this address. Wait a minute.");
  assert.equal(said("weather", "it rains"), "It rains.");
  assert.equal(said("weather"), "The server refused: weather");
});

test("a reason to cancel that is not known is shown beside the general words", () => {
  assert.equal(isCancelReason("superseded"), true);
  assert.equal(isCancelReason("eclipse"), false);
  assert.equal(cancelWords("eclipse"), "Stopped. The text above is what had arrived.");
});

test("a session that is not heard of is not called running", () => {
  const row = { id: "s", title: "", status: "running", pending: [], pending_count: 0 } as unknown as SessionRow;
  assert.equal(sessionLook(row, [], true, false).chip, "Running");
  assert.deepEqual(sessionLook(row, [], false, false).line, "Last known: running");
  assert.equal(sessionLook(row, [], false, false).glyph, "off");
  const chip = (status: string) => sessionLook({ ...row, status }, [], false, false).chip;
  assert.equal(chip("stopping"), "Last known: stopping");
  assert.equal(chip("requires_action"), "Last known: needs you");
  assert.equal(chip("failed"), "Last known: failed");
  assert.equal(chip("idle"), "");
  assert.equal(sessionLook({ ...row, status: "dreaming" }, [], true, false).line, "dreaming");
  assert.equal(sessionLook({ ...row, status: "requires_action", pending_count: 2 }, [], true, false).line, "2 calls wait for approval");
});

test("a session without a title is named by its id only where somebody chose that", () => {
  assert.equal(titleOf({ id: "5f2c9a01d4e7b300", title: "Fix the test" }), "Fix the test");
  assert.equal(titleOf({ id: "main", title: " " }), "main");
  assert.equal(titleOf({ id: "5f2c9a01d4e7b300", title: "" }), "New session");
});

test("what is looked for is found in the name that is shown, and in the id", () => {
  const row = { id: "5f2c9a01d4e7b300", title: "" } as SessionRow;
  assert.ok(matches(row, "new sess"));
  assert.ok(matches(row, "5f2c"));
  assert.ok(!matches({ ...row, title: "Fix the test" }, "new sess"));
});

test("a call that took too long says its limit", () => {
  const late = (limit: string) => callOutcome({ state: "failed", output: `Bash timed out after ${limit}: the tool's time is up\nhalf a line`, display: { kind: "tool", summary: "the tool's time is up" } } as unknown as Call);
  assert.deepEqual(late("10m0s"), { glyph: "fail", words: "tool_timeout, 10 min", tone: "bad" });
  assert.equal(late("1h30m0s").words, "tool_timeout, 1 h 30 min");
  assert.equal(late("2.5s").words, "tool_timeout, 2.5 s");
  assert.equal(late("500ms").words, "tool_timeout, 0.5 s");
  assert.equal(late("a while").words, "the tool's time is up");
});
