// The one strip above the composer: no connection, or an approval that is out of view.

import { position } from "../format.ts";
import { Status } from "../icons.tsx";
import { plural } from "../format.ts";
import { useLocalNow } from "../clock.ts";
import { usePage } from "../page.ts";
import { connectionReason, connectionWord } from "../words.ts";

const patience = 1_000; // ms without a connection before it is worth a strip

interface StripProps {
  /** log position that is shown; 0 = nothing is */
  upTo: number;
  /** standing calls of this session that are out of view */
  below: number;
  onGo: () => void;
}

export function Strip({ upTo, below, onGo }: StripProps) {
  const { connection, act } = usePage();
  const now = useLocalNow();
  const c = connection.value;
  const down = c.downSince > 0 && c.phase !== "catching_up" && (c.phase === "offline" || now.value - c.downSince >= patience);
  if (down) {
    const why = connectionReason(c);
    return (
      <div class="strip" role="status" aria-live="off">
        <Status is="off" />
        <span class="grow">
          <b>No connection.</b> {why || "The agent goes on without this page."}
          {upTo > 0 && <> Shown: the log up to <span class="num">{position(upTo)}</span>.</>}
        </span>
        <span class="muted num wide">{connectionWord(c, now.value)}</span>
        <button type="button" class="btn small" onClick={() => act.retry()}>Retry now</button>
      </div>
    );
  }
  return below === 0 ? null : (
    <div class="strip need" role="status" aria-live="off">
      <Status is="need" />
      <span class="grow">{plural(below, "call")} wait{below === 1 ? "s" : ""} below</span>
      <button type="button" class="btn small" onClick={onGo}>Go to it <kbd aria-hidden="true">.</kbd></button>
    </div>
  );
}
