// The header of a conversation: its name, how it stands, what it has used.

import { useComputed } from "@preact/signals";
import { useMemo } from "preact/hooks";
import { callsOf, waitingCalls } from "../state/select.ts";
import type { Entry, SessionRow } from "../state/types.ts";
import { useConnectionWord } from "./clock.ts";
import { tell } from "./dialog.tsx";
import { cost, tokens } from "./format.ts";
import { Icon, IconButton, Status } from "./icons.tsx";
import { Menu } from "./menu.tsx";
import { usePage } from "./page.ts";
import { useReading } from "./panel/reading.tsx";
import { toggled, toSession } from "./route.ts";
import { askDelete, askRename, copyLink, pin } from "./sessions/acts.ts";
import { phoneScreen } from "./screen.ts";
import { connected, refusal, sessionLook, titleOf } from "./words.ts";

export function SessionHeader({ id, row }: { id: string; row: SessionRow | undefined }) {
  const page = usePage();
  const { connection, standing, me, route, showPanel } = page;
  const live = connected(connection.value);
  const look = row && sessionLook(row, callsOf(standing.value, id), live, false);
  const chip = { need: "need", run: "run", fail: "fail", off: "off" }[look?.glyph as string] ?? "";
  const at = route.value;
  const panel = at.at === "session" ? at.panel : null;
  const show = (is: "log" | "settings"): void => showPanel(toggled(panel, is));
  const waiting = waitingCalls(standing.value);
  const off = me.value?.allow.includes("admin") === false ? "This token does not allow it" : "";
  return (
    <header class="head">
      <button type="button" class="icon back" aria-label={waiting > 0 ? `All sessions, ${waiting} need you` : "All sessions"} onClick={() => (phoneScreen.value = "list")}>
        <Icon name="left" />
      </button>
      <h1 class="clip foreign" title={row && titleOf(row)}>{row ? titleOf(row) : id}</h1>
      {look && look.chip !== "" && <span class={`chip ${chip}`.trimEnd()}><Status is={look.glyph} />{look.chip}</span>}
      {!look?.chip && !live && <ConnectionChip />}
      <span class="grow" />
      {row && <Usage row={row} />}
      <IconButton icon="rows" class="wide" label="Log" title="Log  (L)" pressed={panel?.is === "log"} onClick={() => show("log")} />
      <IconButton icon="settings" class="wide" label="Session settings" title="Settings  (S)" pressed={panel?.is === "settings"} onClick={() => show("settings")} />
      {row && (
        <Menu
          label="More"
          entries={[
            { label: "Log", act: () => show("log") },
            { label: "Settings", act: () => show("settings") },
            { label: "Rename", act: () => askRename(page, row), off, apart: true },
            { label: row.pinned ? "Unpin" : "Pin", act: () => void pin(page, row), off },
            { label: "Copy link", act: () => copyLink(row) },
            { label: "Fork this session", act: () => void forkAll(page, id), off },
            { label: "Delete", act: () => askDelete(page, row), bad: true, apart: true, off },
          ]}
        />
      )}
    </header>
  );
}

/** On a phone the foot of the list is on another screen. */
function ConnectionChip() {
  const word = useConnectionWord();
  return word === "" ? null : <span class="chip off phone num">{word}</span>;
}

async function forkAll({ act, go }: ReturnType<typeof usePage>, id: string): Promise<void> {
  const outcome = await act.fork(id, "");
  if (outcome.ok) {
    go(toSession(outcome.value.id));
  } else {
    tell(refusal(outcome), null);
  }
}

/** What the session has used, where all of its entries are here to be counted. */
function Usage({ row }: { row: SessionRow }) {
  const { app, act } = usePage();
  const entries = useComputed(() => (app.value.open?.earlier === "start" ? app.value.open.entries : null)).value;
  const { value: models } = useReading(() => act.models(row.id), row.id);
  const model = models?.main;
  const sums = useMemo(() => (entries ? summed(entries.values()) : null), [entries]);
  return (
    <span class="meta num">
      <span class="foreign">{row.agent}</span>
      {model && <span class="sep foreign">{model}</span>}
      {sums && <span class="sep">{tokens(sums.input)} in, {tokens(sums.output)} out</span>}
      {sums && sums.cost !== null && <span class="sep">{cost(sums.cost)}</span>}
    </span>
  );
}

/** null: no provider told anything. A cost is told only where all of them told one. */
export function summed(entries: Iterable<Entry>): { input: number; output: number; cost: number | null } | null {
  const sums = { input: 0, output: 0, cost: 0 as number | null };
  let told = false;
  for (const { usage } of entries) {
    if (usage) {
      told = true;
      sums.input += usage.input_tokens ?? 0;
      sums.output += usage.output_tokens ?? 0;
      sums.cost = sums.cost === null || usage.cost === undefined ? null : sums.cost + usage.cost;
    }
  }
  return told ? sums : null;
}
