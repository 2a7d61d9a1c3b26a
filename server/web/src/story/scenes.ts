// The states of the whole page, by the names of their fragments.

import { SessionStatus } from "../protocol.gen.ts";
import type { TimelineItem } from "../state/types.ts";
import { asks, call, diff, folded, foot, group, hidden, note, prose, reasoning, session, standing, testOutput, user } from "./data.ts";
import type { Scene } from "./page.ts";

const question = user("TestReplayJoin fails about once in 200 runs. Find out why, fix it, and open a pull request.", { attempt: { index: 1, ids: ["a", "b", "c"] } });

const begun: readonly TimelineItem[] = [
  question,
  reasoning("the join reads the tip before it takes the publish lock\n\nThe subscriber reads a page, then asks for the tip, then attaches. Between the last two an append can publish. The event is in neither the page nor the tail, so the gap only shows when a commit lands in that window."),
  prose("I’ll reproduce it under load and read the change next to it."),
];

const gitDiff = call("git__diff", { path: "store/tail.go" }, { display: { kind: "tool", renderer: "diff", title: "git__diff store/tail.go", text: diff } });
const failed = call("go__test", { command: "go test -race -count=200 -run TestReplayJoin ./store" }, {
  state: "failed", output: testOutput, duration: 41_000, display: { kind: "tool", renderer: "terminal", is_error: true, extra: { exit_code: 1 } },
});
const testing = call("go__test", { command: "go test -race -count=200 -run TestReplayJoin ./store" }, { state: "running", output: testOutput, duration: null, startedAt: "2026-11-29T14:06:02Z" });

const cause = `Reproduced: one failure in 175 runs. The cause is a window of a few microseconds:

- \`Attach\` reads the tip *before* it takes the lock that \`publish\` holds.
- A commit in between is in neither the page nor the tail.

Reading the tip under the same lock closes the window`;

const streaming = prose(cause + ":\n\n```go\nl.mu.Lock()\ndefer l.mu.Unlock()\nif next != l.tip+1 { // publish cannot run in bet", { streaming: true });

const parked: readonly TimelineItem[] = [
  ...begun,
  group(gitDiff, failed),
  folded(
    call("Edit", { file_path: "store/tail.go" }, { duration: 1_000 }),
    call("go__test", { command: "./store" }, { duration: 231_000 }),
  ),
  prose("Fixed: the tip is now read under the lock that `publish` holds. 2 000 runs pass with the race detector. I’d like to push the branch."),
  asks,
];

const ended: readonly TimelineItem[] = [...begun, group(gitDiff, failed), prose(cause + "."), note("foot", { foot })];

/** Texts by turns, enough for several pages. */
const long: readonly TimelineItem[] = Array.from({ length: 700 }, (_, i) =>
  i % 2 === 0 ? user(`Question ${i}: what does part ${i} do?`) : prose(`Answer ${i}.\n\n${"It keeps what it was given, and says so. ".repeat(1 + (i % 7))}`),
);

const offline = { phase: "waiting" as const, downSince: 1, retryAt: Date.now() + 4_000 };

export const scenes: Readonly<Record<string, Scene>> = {
  running: { items: [...begun, group(gitDiff, failed), streaming], status: SessionStatus.Running, live: true, inbox: true },
  list: { items: [...begun, group(gitDiff, failed), streaming], status: SessionStatus.Running, live: true },
  approval: { items: parked, status: SessionStatus.RequiresAction, live: true, standing: [standing], inbox: true },
  hidden: {
    items: [...begun, { ...asks, name: hidden.tool_name, arguments: hidden.arguments ?? "", standing: hidden } as TimelineItem],
    status: SessionStatus.RequiresAction, live: true, standing: [hidden],
  },
  log: {
    items: parked, status: SessionStatus.RequiresAction, live: true, standing: [standing],
    route: { at: "session", session, entry: "", panel: { is: "log", seq: -1 } },
  },
  settings: { items: ended, route: { at: "session", session, entry: "", panel: { is: "settings" } } },
  offline: {
    items: [...begun, group(gitDiff, failed), prose(cause + ", and the race", { streaming: true })], status: SessionStatus.Running, live: true, inbox: true, connection: offline,
  },
  gap: {
    items: [...begun, group(gitDiff, testing), note("hole", { hole: { lastGood: 1_559, next: 1_656, dropped: 96, by: "log" } })],
    status: SessionStatus.Running, live: true, connection: { phase: "catching_up" },
  },
  replaying: {
    items: [note("replaying", { at: 1_560, upto: 1_675 }), ...begun, group(gitDiff, testing)],
    status: SessionStatus.Running, live: true, connection: { phase: "catching_up" },
  },
  ended: { items: ended },
  stopped: { items: [...begun, prose("Reproduced: one failure in", { incomplete: true }), note("cancelled", { reason: "stopped", message: "" })], inbox: true },
  failed: { items: [...begun, note("failure", { code: "provider_error", message: "the provider closed the stream early" })], status: SessionStatus.Failed },
  paused: { items: [...begun], status: SessionStatus.Resumable, live: true },
  stopping: { items: [...begun, group(gitDiff, testing)], status: SessionStatus.Stopping, live: true },
  earlier: { items: ended, earlier: "more" },
  long: { items: long },
  found: { items: long, route: { at: "session", session, entry: long[301]?.key ?? "", panel: null } },
  forked: { items: ended, forked: "wal" },
  orphan: { items: ended, forked: "5f2c9a01d4e7b3ff" },
  nothing: { items: [] },
  loading: { load: "loading" },
  absent: { load: "absent" },
  watching: { items: parked, status: SessionStatus.RequiresAction, live: true, standing: [standing], allow: ["watch"] },
  empty: { rows: [], route: { at: "home" } },
  signin: { connection: { phase: "signed_out", reason: "token_unknown" } },
};
