// The settings of a session.

import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import type { SessionRow } from "../../state/types.ts";
import { count, cost, size, tokens } from "../format.ts";
import { IconButton } from "../icons.tsx";
import { copy } from "../live.ts";
import { type UsageLine, usePage } from "../page.ts";
import { askDelete, askRename } from "../sessions/acts.ts";
import { refusal, titleOf } from "../words.ts";
import { Models } from "./models.tsx";
import { PanelFrame } from "./panel.tsx";
import { Policy } from "./policy.tsx";
import { Unread, useReading } from "./reading.tsx";

export function SettingsPanel({ session }: { session: string }) {
  const { rows } = usePage();
  const row = rows.value.get(session);
  return (
    <PanelFrame name="Settings">
      {row && (
        <div class="settings">
          <General row={row} />
          <Policy session={session} />
          <Models session={session} />
          <Usage session={session} />
          <Export session={session} />
          <Ends row={row} />
        </div>
      )}
    </PanelFrame>
  );
}

function General({ row }: { row: SessionRow }) {
  const page = usePage();
  const mayNot = page.me.value?.allow.includes("admin") === false ? "This token does not allow it" : "";
  const ids: [string, string][] = [["Session", row.id], ...(row.live_run_id ? [["Run", row.live_run_id] as [string, string]] : [])];
  return (
    <section>
      <h2>General</h2>
      <table class="pairs">
        <tbody>
          <Pair name="Title" value={titleOf(row)}><IconButton icon="edit" label="Rename" small off={mayNot} onClick={() => askRename(page, row)} /></Pair>
          <Pair name="Agent" value={row.agent} />
          {ids.map(([name, id]) => (
            <Pair name={name} value={id} mono><IconButton icon="copy" label={`Copy the ${name.toLowerCase()}'s id`} small onClick={() => void copy(id)} /></Pair>
          ))}
          <Pair name="Log" value={`${count(row.last_seq + 1)} events, ${size(row.bytes)}`} />
        </tbody>
      </table>
    </section>
  );
}

function Pair({ name, value, mono, children }: { name: string; value: string; mono?: boolean; children?: ComponentChildren }) {
  return <tr><th scope="row">{name}</th><td class={mono ? "mono" : "foreign num"}>{value}</td><td>{children}</td></tr>;
}

function Usage({ session }: { session: string }) {
  const { act } = usePage();
  const { value, problem, again } = useReading<readonly UsageLine[]>(() => act.usage(session), session);
  return (
    <section>
      <h2>Usage</h2>
      <Unread problem={problem} again={again} />
      {value?.length === 0 && <p class="muted">No provider told any.</p>}
      {value && value.length > 0 && (
        <table class="t num">
          <thead><tr><th scope="col">Model</th><th scope="col" class="r">In</th><th scope="col" class="r">Out</th><th scope="col" class="r">Cost</th></tr></thead>
          <tbody>
            {value.map((line) => (
              <tr>
                <td class="foreign">{line.model || "All models"}</td>
                <td class="r">{line.input_tokens === null ? "–" : tokens(line.input_tokens)}</td>
                <td class="r">{line.output_tokens === null ? "–" : tokens(line.output_tokens)}</td>
                <td class="r">{line.cost === null ? "not reported" : cost(line.cost)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}

function Export({ session }: { session: string }) {
  const { act } = usePage();
  const why = useSignal("");
  const get = async (what: "log" | "conversation"): Promise<void> => {
    const outcome = await act.download(session, what);
    why.value = outcome.ok ? "" : refusal(outcome);
  };
  return (
    <section>
      <h2>Export</h2>
      <div class="do">
        <button type="button" class="btn" onClick={() => void get("log")}>Log (JSON Lines)</button>
        <button type="button" class="btn" onClick={() => void get("conversation")}>Conversation (Markdown)</button>
      </div>
      <p class="field-error" role="alert" hidden={why.value === ""}>{why.value}</p>
    </section>
  );
}

function Ends({ row }: { row: SessionRow }) {
  const page = usePage();
  const said = useSignal("");
  const busy = useSignal(false);
  const open = row.live_run_id !== undefined;
  const admin = page.me.value?.allow.includes("admin") !== false;
  const off = busy.value || open || !admin;
  const compact = async (): Promise<void> => {
    if (off) {
      return;
    }
    busy.value = true;
    const outcome = await page.act.compact(row.id);
    busy.value = false;
    if (!outcome.ok) {
      said.value = refusal(outcome);
    } else {
      const { compacted, tokens_before: before, tokens_after: after } = outcome.value;
      said.value = !compacted ? "There is nothing to summarise." : before !== undefined && after !== undefined ? `Summarised, ${tokens(before)} to ${tokens(after)} tokens.` : "Summarised.";
    }
  };
  return (
    <section>
      <h2>History</h2>
      <p class="muted">A summary takes the place of what the model reads; here everything stays readable.</p>
      <div class="do">
        <button type="button" class="btn" aria-disabled={off} title={open ? "Stop the run to do this" : undefined} onClick={() => void compact()}>{busy.value ? "Summarising…" : "Compact now"}</button>
        <button type="button" class="btn danger" aria-disabled={!admin} onClick={() => admin && askDelete(page, row)}>Delete</button>
      </div>
      <p class="muted" role="status" hidden={said.value === ""}>{said.value}</p>
    </section>
  );
}
