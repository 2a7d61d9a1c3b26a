// Fixed data for the story page: one session in every state that the page can show.

import { DisplayKind, ItemType, Kind, Queue, SessionStatus, Source } from "../protocol.gen.ts";
import type { Call, Entry, InboxItem, LogEvent, Session } from "../state/types.ts";
import type { RunFoot, SessionRow, StandingCall, TimelineItem } from "../state/types.ts";

/** "Now" of the story, and instants before it. */
export const now = Date.parse("2026-11-29T14:06:40Z");
export const ago = (minutes: number): string => new Date(now - minutes * 60_000).toISOString();

export const run = "5f2c9a01d4e7b300";
export const session = "main";

export function row(id: string, title: string, more: Partial<SessionRow> = {}): SessionRow {
  return {
    id, title, agent: "default", pinned: false, parent_id: null, created_at: ago(9_000), updated_at: ago(0), last_seq: 1_716,
    last_input_at: ago(4), bytes: 412_000, status: SessionStatus.Idle, pending_count: 0, pending: [],
    newsSeq: 10, touchedAt: 0, compacting: false, ...more,
  };
}

const waits = (n: number): Pick<Session, "status" | "pending_count" | "pending"> => ({
  status: SessionStatus.RequiresAction, pending_count: n,
  pending: Array.from({ length: n }, (_, i) => ({ tool_call_id: `call_${i}`, tool_name: "Bash", run_id: "r" })),
});

export const title = "Fix the flaky replay test";

/** The other sessions of the list. Those with news above the read mark are unread. */
export const others: readonly SessionRow[] = [
  row("rotate", "Rotate staging keys", { ...waits(1), last_input_at: ago(12) }),
  row("notes", "Draft the 0.4 release notes", { ...waits(2), last_input_at: ago(26), newsSeq: 20 }),
  row("nightly", "Nightly dependency watch", { pinned: true, last_input_at: ago(11 * 60 + 6) }),
  row("bench", "Bench: append at 64 producers", { status: SessionStatus.Running, live_run_id: "r2", last_input_at: ago(2) }),
  row("wal", "Explain the WAL checkpoint stalls", { last_input_at: ago(18), newsSeq: 20 }),
  row("tickets", "Import the old tickets", { status: SessionStatus.Failed, last_input_at: ago(41), newsSeq: 20, last_error: { code: "provider_error", message: "the provider closed the stream early" } }),
  row("help", "Port the CLI help texts", { status: SessionStatus.Resumable, live_run_id: "r3", last_input_at: ago(70) }),
  row("names", "Name ideas for the sandbox flag", { last_input_at: ago(26 * 60) }),
  row("landlock", "Read the Landlock man page", { last_input_at: ago(3 * 24 * 60) }),
];

let seq = 1_500;

export function entry(payload: Entry["payload"], more: Partial<Entry> = {}): Entry {
  seq++;
  return {
    id: `e${seq}`, seq, kind: Kind.Item, parent_id: `e${seq - 1}`, source: { type: Source.Model }, display: { kind: DisplayKind.Message },
    usage: null, payload, run_id: run, created_at: ago(4), on_path: true, compacted: false, ...more,
  };
}

const base = (e: Entry) => ({ key: e.id, run: e.run_id, seq: e.seq, entry: e, compacted: e.compacted });

export function user(text: string, more: { attempt?: { index: number; ids: string[] }; injected?: boolean } = {}): TimelineItem {
  const e = entry({ type: ItemType.Message, role: "user", content: [{ type: "input_text", text }] }, { source: { type: Source.User } });
  return { ...base(e), is: "user", text, attempt: more.attempt ?? null, injected: more.injected ?? false };
}

export function prose(text: string, more: { streaming?: boolean; incomplete?: boolean } = {}): TimelineItem {
  const e = entry({ id: "m", type: ItemType.Message, role: "assistant", status: "completed", content: [{ type: "output_text", text, annotations: [] }] });
  e.usage = { input_tokens: 9_216, output_tokens: 1_052, cost: 0.0155 };
  return { ...base(e), is: "prose", text, streaming: more.streaming ?? false, incomplete: more.incomplete ?? false, parts: [] };
}

export function reasoning(text: string): TimelineItem {
  const e = entry({ id: "r", type: ItemType.Reasoning, summary: [{ type: "summary_text", text }] });
  return { ...base(e), is: "reasoning", text, streaming: false };
}

export function call(name: string, args: unknown, more: Partial<Call> = {}): Call {
  const text = JSON.stringify(args);
  const e = entry({ id: "c", type: ItemType.FunctionCall, status: "completed", call_id: `call_${seq}`, name, arguments: text });
  return {
    ...base(e), is: "call", callId: `call_${seq}`, name, arguments: text, state: "done", standing: null, output: "", result: null,
    display: { kind: DisplayKind.Tool }, startedAt: ago(1), duration: 200, lastStep: true, ...more,
  };
}

export function group(...calls: Call[]): TimelineItem {
  const first = calls[0];
  if (!first) {
    throw new Error("a group has calls");
  }
  return { key: first.key, run, seq: first.seq, entry: first.entry, compacted: false, is: "group", calls };
}

export function folded(...calls: Call[]): TimelineItem {
  return { ...group(...calls), is: "folded", calls } as TimelineItem;
}

/** Any other item, outside of what entries make. */
export function note<T extends TimelineItem["is"]>(is: T, more: Omit<Extract<TimelineItem, { is: T }>, "is" | "key" | "run" | "seq" | "entry" | "compacted">): TimelineItem {
  seq++;
  return { key: `n${seq}`, run, seq, entry: null, compacted: false, is, ...more } as unknown as TimelineItem;
}

export const standing: StandingCall = {
  run_id: run, session_id: session, tool_call_id: "call_7f30", tool_name: "Bash", created_at: "2026-11-29T14:06:31Z",
  arguments: JSON.stringify({ command: 'git commit -am "store: read the tip under the publish lock" && git push origin fix/replay-join' }),
};

export const asks = call("Bash", JSON.parse(standing.arguments ?? ""), { state: "standing", standing, callId: standing.tool_call_id, duration: null });

export const hidden: StandingCall = {
  ...standing, tool_call_id: "call_7f31", tool_name: "mcp__files__write",
  arguments: '{"path":"notes\u202etxt.exe","mode":420,"text":"one\\u0000two"}',
};

export const diff = `--- store/tail.go
+++ store/tail.go
@@ -41,6 +41,6 @@ func (l *log) Attach
 func (l *log) Attach(next int64) {
-\ttip := l.tip.Load()
-\tl.mu.Lock()
+\tl.mu.Lock()
+\ttip := l.tip // under the lock
 \tdefer l.mu.Unlock()
 \tif next != tip+1 {
`;

export const testOutput = Array.from({ length: 149 }, (_, i) => `ok  \thitchpost/store\trun ${i + 20}`).join("\n") + `
ok  \thitchpost/store\trun 172
\u001b[31m--- FAIL: TestReplayJoin (0.04s)\u001b[0m
    tail_test.go:88: replay then tail
        missed seq 4117, next was 4118
ok  \thitchpost/store\trun 174
ok  \thitchpost/store\trun 175
`;

export const foot: RunFoot = {
  steps: 3, duration: 252_000, inputTokens: 18_432, outputTokens: 2_104, partial: false, cost: 0.031,
  attempt: { index: 1, ids: ["a", "b"] }, userEntry: "u", lastEntry: "l", text: "…",
};

export const inbox: readonly InboxItem[] = [
  { input_id: "i1", queue: Queue.Steer, text: "Keep the fix out of the hot path, Attach is called on every reconnect", wake: true, queued_at: ago(1) },
  { input_id: "i2", queue: Queue.FollowUp, text: "Then do the same check for the replay slots", wake: true, queued_at: ago(1) },
];

const logLines: readonly [string, unknown][] = [
  ["turn/start", { agent: "main" }],
  ["step/start", { n: 1, model: "openrouter/qwen3-coder" }],
  ["user/message", { text: "TestReplayJoin fails about once in 200 runs. Find out why, fix it, and open a pull request." }],
  ...Array.from({ length: 38 }, (): [string, unknown] => ["assistant/reasoning_chunk", { text: "the " }]),
  ["assistant/reasoning", { text: "The subscriber reads a page, then asks for the tip, then attaches." }],
  ...Array.from({ length: 12 }, (): [string, unknown] => ["assistant/chunk", { text: "I’ll " }]),
  ["assistant/message", { parts: [{ type: "text", text: "I’ll reproduce it under load and read the change next to it." }] }],
  ["tool/call", { id: "call_7f21", name: "git__diff", args: { path: "store/tail.go" } }],
  ["tool/call", { id: "call_7f22", name: "go__test", args: { pkg: "./store", count: 200 } }],
  ["tool/result", { id: "call_7f21", content: "…", error: null }],
  ...Array.from({ length: 121 }, (): [string, unknown] => ["tool/progress", { id: "call_7f22", text: "ok\n" }]),
  ["tool/result", { id: "call_7f22", content: null, error: "exit code 1" }],
  ["step/end", { n: 1 }],
  ["weather/report", { sky: "clear" }],
  ["approval/requested", { call_id: "call_7f30", name: "Bash", args: {} }],
];

export const log: readonly LogEvent[] = logLines.map(([type, payload], i) => ({
  id: `l${i}`, session_id: session, seq: 1_498 + i, at: ago(4), type, payload,
}));
