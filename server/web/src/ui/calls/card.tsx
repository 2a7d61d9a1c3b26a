// A call: one line, or a card with what it printed or made.

import { useRef } from "preact/hooks";
import type { Call } from "../../state/types.ts";
import { lineCount, parseDiff } from "../diff.ts";
import { useFold } from "../fold.ts";
import { duration, elapsed } from "../format.ts";
import { Icon, Status } from "../icons.tsx";
import { usePage } from "../page.ts";
import { connected } from "../words.ts";
import { indented, readArguments, subject } from "./arguments.ts";
import { callOutcome, wentWrong } from "./outcome.ts";
import { DiffPane, Plain, readTodo, TablePane, Terminal, Todo } from "./panes.tsx";
import { readTable } from "./table.ts";

const smallDiff = 30; // lines of a diff that is open by itself

export function CallCard({ call }: { call: Call }) {
  const host = useRef<HTMLElement>(null);
  const { open, toggle } = useFold(call.key, opensItself(call), host);
  const todo = call.display.renderer === "todo" ? readTodo(call.display.extra) : null;
  return (
    <section ref={host} class={`tool${open || todo ? "" : " line"}`} aria-label={callName(call)}>
      <header>
        <button type="button" aria-expanded={open} onClick={toggle}>
          <Icon name={iconOf(call)} class="muted" />
          <b class="foreign">{call.name}</b>
          <span class="grow clip muted foreign">{headline(call)}</span>
          <Outcome call={call} />
        </button>
      </header>
      {todo && <Todo {...todo} />}
      {open && <Body call={call} todo={todo !== null} />}
    </section>
  );
}

/** For a name of the card: "Call Bash, done". */
export function callName(call: Call): string {
  const said = { running: "running", standing: "waits for approval", done: "done", failed: "failed", open: "without a result" };
  return `Call ${call.name}, ${wentWrong(call) ? "failed" : said[call.state]}`;
}

function opensItself(call: Call): boolean {
  if (call.state === "running") {
    return call.output !== "";
  }
  if (wentWrong(call)) {
    return call.output !== "" && callOutcome(call).tone === "bad"; // a refusal is said by its line
  }
  if (call.display.renderer === "diff" && call.lastStep) {
    const diff = parseDiff(call.display.text ?? "");
    return diff !== null && lineCount(diff) <= smallDiff;
  }
  return false;
}

function headline(call: Call): string {
  if (call.display.renderer === "todo") {
    return call.display.summary ?? "";
  }
  return subject(call.arguments) || (call.display.title ?? "");
}

function iconOf(call: Call): string {
  switch (call.display.renderer) {
    case "terminal":
      return "terminal";
    case "diff":
      return "diff";
    case "table":
    case "todo":
      return "rows";
    default:
      return isCommand(call) ? "terminal" : "file";
  }
}

function isCommand(call: Call): boolean {
  return ["command", "cmd"].includes(readArguments(call.arguments).name);
}

/** What became of it, and how long it took where the log tells it. */
export function Outcome({ call }: { call: Call }) {
  const { glyph, words, tone, refused, added, removed } = callOutcome(call);
  const time = call.state === "running" ? <Running since={call.startedAt} /> : call.duration === null || refused ? null : duration(call.duration);
  const plain = words === "" && added === undefined;
  return (
    <span class={`meta num ${tone}`.trimEnd()}>
      {glyph && <Status is={glyph} />}
      {added !== undefined && <span class="good">+{added}</span>}
      {removed !== undefined && <span class="bad">&nbsp;−{removed}</span>}
      {words !== "" && <span class="clip foreign" title={words}>{words}</span>}
      {time && <span class={plain ? undefined : "sep muted"}>{time}</span>}
    </span>
  );
}

/** Ticks alone: its second does not redraw the card. Not live, it does not tick. */
function Running({ since }: { since: string }) {
  const { now, connection } = usePage();
  return connected(connection.value) ? <>{elapsed(now.value - Date.parse(since))}</> : null;
}

function Body({ call, todo }: { call: Call; todo: boolean }) {
  const { display, output, state } = call;
  const args = readArguments(call.arguments);
  if (display.renderer === "terminal" || (display.renderer === undefined && isCommand(call))) {
    return <Terminal of={call.key} command={args.main} output={output} streaming={state === "running"} />;
  }
  if (display.renderer === "diff" && !wentWrong(call)) {
    const diff = parseDiff(display.text ?? "");
    if (diff) {
      return <DiffPane of={call.key} diff={diff} text={display.text ?? ""} />;
    }
  }
  if (display.renderer === "table") {
    const table = readTable(display.extra) ?? readTable(output);
    if (table) {
      return <TablePane of={call.key} table={table} />;
    }
  }
  return (
    <>
      {args.more && !todo && <pre class="pane args foreign" tabIndex={0} role="region" aria-label="Arguments">{indented(call.arguments)}</pre>}
      {output !== "" && <Plain of={call.key} text={readable(output)} name="output" wrap={wentWrong(call)} />}
      {output === "" && !args.more && !todo && <p class="words">{state === "running" || state === "standing" ? "Nothing yet." : "No output."}</p>}
    </>
  );
}

/** JSON is indented, anything else stays as it is. */
function readable(text: string): string {
  if (/^\s*[[{]/.test(text)) {
    try {
      JSON.parse(text);
      return indented(text);
    } catch {
      return text;
    }
  }
  return text;
}
