// Messages that wait: from the inbox only, in its order. One leaves when the log shows it
// read, or the server says that it was taken back.

import { useSignal } from "@preact/signals";
import type { InboxItem, SessionRow } from "../../state/types.ts";
import { instant } from "../format.ts";
import { IconButton } from "../icons.tsx";
import { usePage } from "../page.ts";
import { connected, queueWords, refusal } from "../words.ts";

interface WaitingProps {
  row: SessionRow;
  items: readonly InboxItem[];
  takeBack: (item: InboxItem) => Promise<string>;
}

export function Waiting({ row, items, takeBack }: WaitingProps) {
  const why = useSignal("");
  const open = row.live_run_id !== undefined;
  const { connection } = usePage();
  const live = connected(connection.value);
  return (
    <>
      {items.length > 0 && (
        <ul class="queue" aria-label="Waiting messages">
          {items.map((item) => {
            const { name, hint } = queueWords(item.queue);
            return (
              <li key={item.input_id} class="q">
                <em title={hint}>{open ? name : "Rides with your next message"}</em>
                <span class="grow clip foreign" title={`${item.text}\n\n${instant(item.queued_at)}`}>{item.text}</span>
                <IconButton
                  icon="close" label={`Take back: ${item.text.slice(0, 60)}`} small off={live ? "" : "No connection"}
                  onClick={async () => (why.value = await takeBack(item))}
                />
              </li>
            );
          })}
        </ul>
      )}
      <p class="why muted" role="alert" hidden={why.value === ""}>{why.value}</p>
    </>
  );
}

/** Takes a message back; "" or why it could not be. Exactly one of the two happens. */
export function useTakeBack(session: string): (item: InboxItem) => Promise<string> {
  const { act } = usePage();
  return async (item) => {
    const outcome = await act.takeBack(session, item.input_id);
    if (outcome.ok) {
      return "";
    }
    return outcome.code === "not_found" || outcome.code === "conflict" ? "Already read by the agent." : refusal(outcome);
  };
}
