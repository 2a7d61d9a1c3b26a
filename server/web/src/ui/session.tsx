// One conversation: header, timeline, waiting messages, composer.

import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { callsOf, shownUpto } from "../state/select.ts";
import type { InboxItem, SessionRow, SessionState } from "../state/types.ts";
import { Composer } from "./composer/composer.tsx";
import { Strip } from "./composer/strip.tsx";
import { useTakeBack, Waiting } from "./composer/waiting.tsx";
import { SessionHeader } from "./header.tsx";
import { usePage } from "./page.ts";
import { phoneScreen } from "./screen.ts";
import { type TimelineHandle, TimelineView } from "./timeline/timeline.tsx";

interface SessionProps {
  id: string;
  handle: { current: TimelineHandle | null };
}

export function SessionView({ id, handle }: SessionProps) {
  const { app } = usePage();
  const row = app.value.rows.get(id);
  const open = app.value.open?.id === id ? app.value.open : null;
  if (open?.load === "absent" || (!row && app.value.list === "ready" && open === null)) {
    return <Absent />;
  }
  return (
    <>
      <SessionHeader id={id} row={row} />
      <Body id={id} row={row} open={open} handle={handle} />
    </>
  );
}

/** A session of somebody else answers the same. */
export function Absent() {
  const { go } = usePage();
  const leave = (): void => {
    if (matchMedia("(max-width: 760px)").matches) {
      phoneScreen.value = "list"; // beside it stands nothing
    } else {
      go({ at: "home" });
    }
  };
  return (
    <div class="center">
      <h2>This session does not exist (any more).</h2>
      <p><button type="button" class="btn" onClick={leave}>All sessions</button></p>
    </div>
  );
}

interface BodyProps extends SessionProps {
  row: SessionRow | undefined;
  open: SessionState | null;
}

function Body({ id, row, open, handle }: BodyProps) {
  const page = usePage();
  const away = useSignal(false); // from the calls that wait
  const items = page.timeline.value;
  const inbox = open?.inbox ?? [];
  const takeBack = useTakeBack(id);
  const standing = callsOf(page.app.value, id).length;
  const known = open !== null && open.load === "ready" && items !== null;

  if (open?.load === "failed") {
    return (
      <div class="center">
        <p>{open.problem === "" ? "The session could not be read." : open.problem}</p>
        <p><button type="button" class="btn" onClick={() => page.act.reloadSession()}>Try again</button></p>
      </div>
    );
  }
  const takeNewest = async (): Promise<string | null> => {
    const newest: InboxItem | undefined = inbox[inbox.length - 1];
    return newest && (await takeBack(newest)) === "" ? newest.text : null;
  };
  return (
    <>
      {known ? (
        <TimelineView key={id} session={id} items={items} handle={handle} onAway={(is) => (away.value = is)} />
      ) : (
        <Skeleton />
      )}
      <footer class="dock">
        <div class="col">
          <Strip upTo={open === null ? 0 : shownUpto(page.app.value)} below={away.value ? standing : 0} onGo={() => handle.current?.toAsk()} />
          {row && <Waiting row={row} items={inbox} takeBack={takeBack} />}
          {row && <Composer key={id} row={row} takeNewest={takeNewest} onSend={() => handle.current?.toEnd()} />}
        </div>
      </footer>
    </>
  );
}

const skeletonAfter = 150; // ms; what is read sooner needs no placeholder

function Skeleton() {
  const late = useSignal(false);
  useEffect(() => {
    const timer = setTimeout(() => (late.value = true), skeletonAfter);
    return () => clearTimeout(timer);
  }, []);
  return (
    <div class="scroll" aria-busy="true">
      <div class="col">{late.value && <div class="skeleton" role="img" aria-label="Reading the session"><i /><i /><i /></div>}</div>
    </div>
  );
}
