// What a call printed or made, by renderer. All of it is text; nothing is markup. Each pane
// is told which call it is of.

import { spans, stripped } from "../ansi.ts";
import { type Diff, type Hunk, type Line } from "../diff.ts";
import { useAll } from "../fold.ts";
import { count, plural, size } from "../format.ts";
import { IconButton, Status } from "../icons.tsx";
import { copy } from "../live.ts";
import { cutLines, paneLines } from "./cut.ts";
import type { Table } from "./table.ts";

/** The last lines of an output under its command. */
export function Terminal({ of, command, output, streaming }: { of: string; command: string; output: string; streaming: boolean }) {
  const [all, setAll] = useAll(of);
  const cut = cutLines(output, all ? 0 : paneLines, true);
  return (
    <>
      <pre class={`pane foreign${all ? " all" : ""}`} tabIndex={0} role="region" aria-label="Output">
        {command !== "" && <><span class="p">$ </span><span class="cmd">{command}</span>{"\n"}</>}
        {cut.hidden > 0 && (
          <><button type="button" class="more" onClick={() => setAll(true)}>…  {plural(cut.hidden, "line")} above</button>{"\n"}</>
        )}
        {spans(cut.text).map((span) => (span.style === "" ? span.text : <span class={span.style}>{span.text}</span>))}
        {streaming && <span class="caret" />}
      </pre>
      <Foot name="output" text={stripped(output)} lines={cut.lines} more={all || cut.cut} all={all} setAll={setAll} />
    </>
  );
}

/** Plain text, or indented JSON. wrap: it is prose. */
export function Plain({ of, text, name, wrap }: { of: string; text: string; name: string; wrap: boolean }) {
  const [all, setAll] = useAll(of);
  const cut = cutLines(text, all ? 0 : paneLines, false);
  return (
    <>
      <pre class={`pane foreign${wrap ? " wrap" : ""}${all ? " all" : ""}`} tabIndex={0} role="region" aria-label={name === "output" ? "Output" : name}>{cut.text}</pre>
      <Foot name={name} text={text} lines={cut.lines} more={all || cut.cut} all={all} setAll={setAll} />
    </>
  );
}

interface FootProps {
  name: string;
  text: string;
  lines: number;
  more: boolean;
  all: boolean;
  setAll: (all: boolean) => void;
}

function Foot({ name, text, lines, more, all, setAll }: FootProps) {
  const whole = lines > paneLines ? `Show all ${count(lines)} lines` : `Show all ${size(text.length)}`;
  return (
    <footer>
      {more && (
        <button type="button" class="btn quiet small" aria-expanded={all} onClick={() => setAll(!all)}>{all ? "Show less" : whole}</button>
      )}
      <span class="grow" />
      <IconButton icon="copy" label={`Copy ${name}`} small onClick={() => void copy(text)} />
    </footer>
  );
}

/** A unified diff; long hunks are folded. */
export function DiffPane({ of, diff, text }: { of: string; diff: Diff; text: string }) {
  return (
    <>
      <div class="pane foreign" tabIndex={0} role="region" aria-label="Changes">
        <div class="diff">{diff.hunks.map((hunk, i) => <HunkLines of={`${of} ${i}`} hunk={hunk} />)}</div>
        {diff.rest !== "" && <div class="words">{diff.rest}</div>}
      </div>
      <footer>
        <span class="grow" />
        <IconButton icon="copy" label="Copy diff" small onClick={() => void copy(text)} />
      </footer>
    </>
  );
}

const maxHunk = 30; // lines of a hunk that is shown at once

function HunkLines({ of, hunk }: { of: string; hunk: Hunk }) {
  const long = hunk.lines.length > maxHunk;
  const [all, setAll] = useAll(of);
  const open = all || !long;
  return (
    <>
      {long ? (
        <button type="button" class="h" aria-expanded={open} onClick={() => setAll(!open)}>
          {hunk.head}  {open ? "Fold" : `Show ${hunk.lines.length} lines`}
        </button>
      ) : (
        <span class="h">{hunk.head}</span>
      )}
      {open && hunk.lines.map((line) => <DiffLine line={line} />)}
    </>
  );
}

const signs = { same: "", add: "+", del: "−" };
const tints = { same: "", add: " a", del: " d" };

function DiffLine({ line }: { line: Line }) {
  const tint = tints[line.kind];
  return (
    <>
      <span class={`n${tint}`}>{line.number}</span>
      <span class={`s${tint}`}>{signs[line.kind]}</span>
      <span class={tint.trim()}>
        {line.changed ? (
          <>
            {line.text.slice(0, line.changed[0])}
            <mark>{line.text.slice(...line.changed)}</mark>
            {line.text.slice(line.changed[1])}
          </>
        ) : (
          line.text
        )}
      </span>
    </>
  );
}

const maxRows = 200; // rows of a table that are shown at once

export function TablePane({ of, table }: { of: string; table: Table }) {
  const [all, setAll] = useAll(of);
  const rows = all ? table.rows : table.rows.slice(0, maxRows);
  const right = (i: number): string | undefined => (table.numeric[i] ? "r" : undefined);
  return (
    <>
      <div class="pane tall foreign" tabIndex={0} role="region" aria-label="Rows">
        <table class="t num">
          <thead><tr>{table.columns.map((name, i) => <th scope="col" class={right(i)}>{name}</th>)}</tr></thead>
          <tbody>{rows.map((row) => <tr>{row.map((cell, i) => <td class={right(i)}>{cell}</td>)}</tr>)}</tbody>
        </table>
      </div>
      {rows.length < table.rows.length && (
        <footer><button type="button" class="btn quiet small" onClick={() => setAll(true)}>Show all {count(table.rows.length)} rows</button></footer>
      )}
    </>
  );
}

interface TodoItem {
  content: string;
  status: string;
}

export function Todo({ items, more }: { items: readonly TodoItem[]; more: number }) {
  return (
    <ul class="todo foreign">
      {items.map((item) => (
        <li>
          <Status is={item.status === "completed" ? "ok" : item.status === "in_progress" ? "run" : "idle"} />
          <span class={item.status === "completed" ? "muted" : undefined}>{item.content}</span>
          <span class="sr">{item.status.replace("_", " ")}</span>
        </li>
      ))}
      {more > 0 && <li class="muted">{count(more)} more</li>}
    </ul>
  );
}

/** The list of a todo display; null when there is none. */
export function readTodo(extra: unknown): { items: readonly TodoItem[]; more: number } | null {
  const { todos, more } = (extra ?? {}) as { todos?: unknown; more?: unknown };
  if (!Array.isArray(todos)) {
    return null;
  }
  const items = todos.flatMap((t: unknown) => {
    const { content, status } = (t ?? {}) as { content?: unknown; status?: unknown };
    return typeof content === "string" ? [{ content, status: typeof status === "string" ? status : "" }] : [];
  });
  return { items, more: typeof more === "number" ? more : 0 };
}
