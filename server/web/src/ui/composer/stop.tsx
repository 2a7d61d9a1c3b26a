// Stopping: "Stopped" is said by the log, never by the button.

import { useSignal } from "@preact/signals";
import { SessionStatus } from "../../protocol.gen.ts";
import type { SessionRow } from "../../state/types.ts";
import { Menu } from "../menu.tsx";
import { usePage } from "../page.ts";
import { connected, refusal } from "../words.ts";

/** Runs whose stop the server accepted, until their end is heard. */
const accepted = new Set<string>();

export function StopButton({ row }: { row: SessionRow }) {
  const { act, connection } = usePage();
  const asking = useSignal("");
  const why = useSignal("");
  const run = row.live_run_id ?? "";
  const live = connected(connection.value);
  const stopping = row.status === SessionStatus.Stopping || asking.value === run || accepted.has(run);
  const off = stopping || !live;
  const stop = async (graceful: boolean): Promise<void> => {
    if (off) {
      return;
    }
    asking.value = run;
    const outcome = await act.stop(run, graceful);
    if (outcome.ok) {
      accepted.add(run);
    }
    why.value = outcome.ok ? "" : refusal(outcome);
    asking.value = "";
  };
  return (
    <>
      {why.value !== "" && <span class="bad clip" role="alert">{why.value}</span>}
      <span class="split">
        <button type="button" id="stop" class="btn" aria-disabled={off} title={live ? "Stop now  (Ctrl+.)" : "No connection"} onClick={() => void stop(false)}>
          <span class="stop" aria-hidden="true" />{stopping ? "Stopping…" : "Stop"}
        </button>
        <Menu
          label="Stop options" icon="down" off={stopping ? "Stopping…" : live ? "" : "No connection"}
          entries={[
            { label: "Stop now", act: () => void stop(false) },
            { label: "Finish this step, then stop", act: () => void stop(true) },
          ]}
        />
      </span>
    </>
  );
}
