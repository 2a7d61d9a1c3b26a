// One conversation: header, timeline, waiting messages, composer.

import { type Signal, useComputed, useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { callsOf } from "../state/select.ts";
import type { InboxItem, SessionRow } from "../state/types.ts";
import { Composer } from "./composer/composer.tsx";
import { Strip } from "./composer/strip.tsx";
import { useTakeBack, Waiting } from "./composer/waiting.tsx";
import { SessionHeader } from "./header.tsx";
import { usePage } from "./page.ts";
import { isPhone, phoneScreen } from "./screen.ts";
import { type TimelineHandle, TimelineView } from "./timeline/timeline.tsx";

interface SessionProps {
  id: string;
  handle: { current: TimelineHandle | null };
}

export function SessionView({ id, handle }: SessionProps) {
  const { app, rows, list } = usePage();
  const row = rows.value.get(id);
  const load = useComputed(() => (app.value.open?.id === id ? app.value.open.load : null)).value;
  if (load === "absent" || (!row && list.value === "ready" && load === null)) {
    return <Absent />;
  }
  return (
    <>
      <SessionHeader id={id} row={row} />
      {load === "failed" ? <Failed /> : <Body id={id} row={row} handle={handle} />}
    </>
  );
}

/** A session of somebody else answers the same. */
export function Absent() {
  const { go } = usePage();
  const leave = (): void => {
    if (isPhone()) {
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

function Failed() {
  const { app, act } = usePage();
  const problem = app.value.open?.problem ?? "";
  return (
    <div class="center">
      <p>{problem === "" ? "The session could not be read." : problem}</p>
      <p><button type="button" class="btn" onClick={() => act.reloadSession()}>Try again</button></p>
    </div>
  );
}

interface BodyProps extends SessionProps {
  row: SessionRow | undefined;
}

function Body({ id, row, handle }: BodyProps) {
  const away = useSignal(false); // from the calls that wait
  return (
    <>
      <Entries id={id} handle={handle} away={away} />
      <Dock id={id} row={row} handle={handle} away={away} />
    </>
  );
}

/** The only part of a session that every chunk draws again. */
function Entries({ id, handle, away }: SessionProps & { away: Signal<boolean> }) {
  const { app, timeline } = usePage();
  const ready = useComputed(() => app.value.open?.id === id && app.value.open.load === "ready").value;
  const items = timeline.value;
  return ready && items !== null
    ? <TimelineView key={id} session={id} items={items} handle={handle} onAway={(is) => (away.value = is)} />
    : <Skeleton />;
}

const nothing: readonly InboxItem[] = [];

function Dock({ id, row, handle, away }: BodyProps & { away: Signal<boolean> }) {
  const { app, standing } = usePage();
  const inbox = useComputed(() => (app.value.open?.id === id ? app.value.open.inbox : nothing)).value;
  const takeBack = useTakeBack(id);
  const takeNewest = async (): Promise<string | null> => {
    const newest: InboxItem | undefined = inbox[inbox.length - 1];
    return newest && (await takeBack(newest)) === "" ? newest.text : null;
  };
  return (
    <footer class="dock">
      <div class="col">
        <Strip below={away.value ? callsOf(standing.value, id).length : 0} onGo={() => handle.current?.toAsk()} />
        {row && <Waiting row={row} items={inbox} takeBack={takeBack} />}
        {row && <Composer key={id} row={row} takeNewest={takeNewest} onSend={() => handle.current?.toEnd()} />}
      </div>
    </footer>
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
