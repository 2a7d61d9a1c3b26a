// The sheet of parts: what whole pages show seldom.

import type { ComponentChildren } from "preact";
import type { Call } from "../state/types.ts";
import { CallCard } from "../ui/calls/card.tsx";
import { type Glyph, Status } from "../ui/icons.tsx";
import type { Local } from "../ui/local.ts";
import { type Page, PageProvider } from "../ui/page.ts";
import { Cancelled, Compaction, Diagnostic, Failure, HoleNote, Paused, RunFoot, Unknown } from "../ui/timeline/notes.tsx";
import { call, diff, foot, note, session } from "./data.ts";

const cards: readonly Call[] = [
  call("Bash", { command: "go vet ./..." }, { state: "running", duration: null, startedAt: "2026-11-29T14:06:34Z" }),
  call("Read", { file_path: "store/append.go" }, { display: { kind: "tool", renderer: "text", summary: "212 lines" }, duration: 100 }),
  call("Bash", { command: "make e2e" }, { state: "failed", duration: null, display: { kind: "tool", renderer: "terminal", is_error: true, summary: "tool_timeout, 10 min" } }),
  call("Bash", { command: "rm -rf build" }, { state: "failed", duration: null, output: "Bash denied: keep the cache" }),
  call("Bash", { command: "./migrate.sh" }, { state: "failed", duration: null, output: "outcome unknown: the process died while this ran" }),
  call("Edit", { file_path: "README.md" }, { state: "failed", duration: null, output: "cancelled before execution" }),
  call("WebFetch", { url: "https://example.org" }, { state: "failed", duration: null, output: "WebFetch is not on the allow list" }),
  call("mcp__crm__lookup", { id: 4117 }, { duration: 1_400, output: '{"name":"Ada","open":[1,2]}' }),
  call("Grep", { pattern: "TODO" }, { state: "open", duration: null }),
];

const renderers: readonly Call[] = [
  call("query", { query: "sessions by status" }, {
    display: { kind: "tool", renderer: "table", summary: "2 rows", extra: { columns: ["status", "sessions", "oldest"], rows: [["running", 12, "4 h"], ["waiting_approval", 2, "26 min"]] } },
  }),
  call("TodoWrite", {}, {
    display: {
      kind: "tool", renderer: "todo", summary: "1 of 3 done",
      extra: { todos: [{ content: "Reproduce under load", status: "completed" }, { content: "Read the tip under the lock", status: "in_progress" }, { content: "Push the branch", status: "pending" }] },
    },
  }),
  call("Edit", { file_path: "store/tail.go", old_string: "a" }, { display: { kind: "tool", renderer: "diff", text: diff } }),
  call("Read", { file_path: "config.json", offset: 4 }, { display: { kind: "tool", renderer: "hologram", summary: "an unknown renderer" }, output: '{"listen":"127.0.0.1:8787","tokens":[{"name":"laptop","allow":["watch","inject"]}]}' }),
  call("Bash", { command: "ls --color" }, { output: "\u001b[34mstore\u001b[0m  \u001b[1mREADME.md\u001b[0m\n\u001b[32mok\u001b[0m", display: { kind: "tool", renderer: "terminal", extra: { exit_code: 0 } } }),
];

const glyphs: readonly [Glyph, string][] = [
  ["need", "needs you"], ["run", "running"], ["open", "can go on"], ["fail", "failed"], ["idle", "idle"], ["off", "not connected"],
];

/** The renderers are shown open. */
export function unfold(local: Local): void {
  renderers.forEach((c) => local.setFold("", c.key, true));
}

export function Parts({ page }: { page: Page }) {
  return (
    <PageProvider value={page}>
      <main class="scroll story">
        <div class="col">
          <Part name="Tool card states">{cards.map((c) => <CallCard call={c} />)}</Part>
          <Part name="Renderers">{renderers.map((c) => <CallCard call={c} />)}</Part>
          <Part name="Notes in the timeline">
            <Failure item={note("failure", { code: "provider_error", message: "the provider closed the stream early" }) as never} session={session} again />
            <Failure item={note("failure", { code: "max_turns_exceeded", message: "" }) as never} session={session} again />
            <Cancelled item={note("cancelled", { reason: "stopped", message: "" }) as never} />
            <Cancelled item={note("cancelled", { reason: "superseded", message: "" }) as never} />
            <Paused session={session} />
            <Unknown item={note("unknown", { kind: "weather", payload: { sky: "clear" } }) as never} session={session} />
            <Diagnostic item={note("diagnostic", { code: "provider_error", message: "", count: 2 }) as never} />
            <Compaction item={note("compaction", { summary: "What was done.", upto: 4 }) as never} />
            <HoleNote item={note("hole", { hole: { lastGood: 1_559, next: 1_656, dropped: 96, by: "failed" } }) as never} />
            <RunFoot foot={{ ...foot, cost: null }} session={session} locked="Stop the run to switch" />
          </Part>
          <Part name="Controls">
            <div class="do">
              <button type="button" class="btn primary">Approve</button> <button type="button" class="btn">Deny</button>{" "}
              <button type="button" class="btn quiet">Cancel</button> <button type="button" class="btn" aria-disabled="true">Sending…</button>{" "}
              <button type="button" class="btn danger">Delete</button>
            </div>
            <div class="muted">{glyphs.map(([is, name]) => <span class="glyph"><Status is={is} /> {name} </span>)}</div>
          </Part>
        </div>
      </main>
    </PageProvider>
  );
}

function Part({ name, children }: { name: string; children: ComponentChildren }) {
  return (
    <section>
      <h2 class="part">{name}</h2>
      <div class="calls">{children}</div>
    </section>
  );
}
