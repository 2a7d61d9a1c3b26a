// The one strip above the composer: no connection, or an approval that is out of view.

import { shownUpto } from "../../state/select.ts";
import { plural, position } from "../format.ts";
import { Status } from "../icons.tsx";
import { useConnectionWord, useLate } from "../clock.ts";
import { usePage } from "../page.ts";
import { connectionReason } from "../words.ts";

const patience = 1_000; // ms without a connection before it is worth a strip

interface StripProps {
  /** standing calls of this session, when none of them is in view; else 0 */
  below: number;
  onGo: () => void;
}

export function Strip({ below, onGo }: StripProps) {
  const { app, connection, act } = usePage();
  const word = useConnectionWord();
  const c = connection.value;
  const late = useLate(c.downSince, patience);
  const down = c.downSince > 0 && c.phase !== "catching_up" && (c.phase === "offline" || late);
  if (down) {
    const why = connectionReason(c);
    const upTo = shownUpto(app.value);
    return (
      <div class="strip" role="status" aria-live="off">
        <Status is="off" />
        <span class="grow">
          <b>No connection.</b> {why || "The agent goes on without this page."}
          {upTo > 0 && <> Shown: the log up to <span class="num">{position(upTo)}</span>.</>}
        </span>
        <span class="muted num wide">{word}</span>
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
