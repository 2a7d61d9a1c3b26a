// Notes and marks between the entries: ends, holes, summaries, what is unknown.

import { useContext, useRef, useState } from "preact/hooks";
import { Code, RESTCode } from "../../protocol.gen.ts";
import { activePath } from "../../state/path.ts";
import type { RunFoot as Foot, TimelineItem } from "../../state/types.ts";
import { tell } from "../dialog.tsx";
import { Reading, useFold } from "../fold.ts";
import { cost, count, duration, plural, position, tokens } from "../format.ts";
import { Icon, IconButton, Status } from "../icons.tsx";
import { copy } from "../live.ts";
import { Link } from "../link.tsx";
import { usePage } from "../page.ts";
import { toSession } from "../route.ts";
import { cancelWords, connected, isCancelReason, refusal, sentence } from "../words.ts";
import { Prose } from "./prose.tsx";
import { Switcher, type TreeProps } from "./user.tsx";

type Is<T extends TimelineItem["is"]> = Extract<TimelineItem, { is: T }>;

/** again: whether it is the newest thing here, so that trying again means something. */
export function Failure({ item, session, again }: { item: Is<"failure">; session: string; again: boolean }) {
  const limit = item.code === Code.MaxTurns;
  return (
    <div class="note err">
      <Status is={limit ? "off" : "fail"} />
      <span class="foreign">{limit ? "Stopped at the limit of steps." : `The run failed: ${sentence(item.message)}`}</span>
      {!limit && <span class="mono foreign">{item.code}</span>}
      {again && <Again session={session} words={limit ? "Go on" : "Try again"} />}
    </div>
  );
}

/** A run that answers the history as it stands. */
function Again({ session, words }: { session: string; words: string }) {
  const { act, me, connection } = usePage();
  const [busy, setBusy] = useState(false);
  const [why, setWhy] = useState("");
  const key = useRef(crypto.randomUUID());
  const off = busy || !connected(connection.value);
  const go = async (): Promise<void> => {
    if (off) {
      return;
    }
    setBusy(true);
    const outcome = await act.start(session, "", key.current);
    setBusy(false);
    if (outcome.ok) {
      key.current = crypto.randomUUID();
    }
    setWhy(outcome.ok ? "" : refusal(outcome));
  };
  return me.value?.allow.includes("inject") === false ? null : (
    <>
      <button type="button" class="btn small" aria-disabled={off} onClick={() => void go()}>{words}</button>
      <span class="bad" role="alert" hidden={why === ""}>{why}</span>
    </>
  );
}

/** The run stands open and nobody runs it. */
export function Paused({ session }: { session: string }) {
  return (
    <div class="note"><Status is="open" /><span>Paused in the middle of a run.</span><Again session={session} words="Go on" /></div>
  );
}

/** The address names an entry that is not on the active path. */
export function Astray({ session, entry, locked }: { session: string; entry: string } & TreeProps) {
  const { act, app } = usePage();
  const [why, setWhy] = useState("");
  const { open } = app.value;
  if (!open?.entries.has(entry)) {
    return open?.earlier === "start" ? <div class="note" role="status">This session holds no such entry.</div> : null;
  }
  if (activePath(open).some((e) => e.id === entry)) {
    return null; // it draws nothing
  }
  const show = async (): Promise<void> => {
    if (locked === "") {
      const outcome = await act.showAttempt(session, entry);
      setWhy(outcome.ok ? "" : refusal(outcome));
    }
  };
  return (
    <div class="note" role="status">
      <span>The entry you look for belongs to another attempt.</span>
      <button type="button" class="btn small" aria-disabled={locked !== ""} title={locked || undefined} onClick={() => void show()}>Show that attempt</button>
      <span class="bad" role="alert" hidden={why === ""}>{why}</span>
    </div>
  );
}

export function Cancelled({ item }: { item: Is<"cancelled"> }) {
  return (
    <div class="note">
      <Status is="off" />
      <span>{cancelWords(item.reason)}</span>
      {!isCancelReason(item.reason) && <span class="mono foreign">{item.reason}</span>}
      {item.message !== "" && <span class="foreign">{item.message}</span>}
    </div>
  );
}

export function Partial({ item }: { item: Is<"partial"> }) {
  return (
    <>
      <Prose text={item.text} name={item.key} streaming={false} />
      <p class="cut">Cut short here.</p>
    </>
  );
}

export function Unknown({ item, session }: { item: Is<"unknown">; session: string }) {
  const { showPanel } = usePage();
  const panel = { is: "log", seq: item.seq } as const;
  return (
    <div class="note">
      <Status is="idle" />
      <span>Unknown entry <span class="mono foreign">{item.kind}</span></span>
      <Link class="act" to={{ at: "session", session, entry: "", panel }} go={() => showPanel(panel)}>Show what the log holds</Link>
      <pre class="foreign" tabIndex={0} role="region" aria-label="Payload">{JSON.stringify(item.payload, null, 2)}</pre>
    </div>
  );
}

export function Compaction({ item }: { item: Is<"compaction"> }) {
  const host = useRef<HTMLDivElement>(null);
  const { open, toggle } = useFold(item.key, false, host);
  const { tokens_before: before, tokens_after: after } = (item.entry?.payload ?? {}) as { tokens_before?: number; tokens_after?: number };
  const spared = before !== undefined && after !== undefined ? `, ${tokens(before)} to ${tokens(after)} tokens` : "";
  return (
    <div ref={host}>
      <div class="mark">
        <button type="button" class="btn quiet small num" aria-expanded={open} onClick={toggle}>
          <Icon name="right" class="fold-mark" />Summarised above this line{spared}
        </button>
      </div>
      {open && <Prose text={item.summary} name={item.key} streaming={false} />}
    </div>
  );
}

export function HoleNote({ item }: { item: Is<"hole"> }) {
  const { act } = usePage();
  const { hole, run } = item;
  const from = position(hole.lastGood + 1);
  const to = position(hole.next > 0 ? hole.next - 1 : hole.lastGood + hole.dropped);
  return (
    <div class="hole" role="status" aria-live="off">
      {hole.by === "failed" ? (
        <>
          <Status is="off" />
          <span class="grow num"><b>{plural(hole.dropped, "update")} went by too fast to show.</b> Could not read them.</span>
          <button type="button" class="btn small" onClick={() => act.retryHole(run)}>Try again</button>
        </>
      ) : (
        <>
          <Status is="run" />
          <span class="grow num"><b>{plural(hole.dropped, "update")} went by too fast to show.</b> Reading {from} to {to} from the log…</span>
        </>
      )}
    </div>
  );
}

export function Replaying({ item }: { item: Is<"replaying"> }) {
  return <div class="mark replay"><span class="num">Replaying this run from the log, {position(item.at)} of {position(item.upto)}</span></div>;
}

export function Diagnostic({ item }: { item: Is<"diagnostic"> }) {
  const retry = item.code === Code.Provider || item.code === "";
  const words = retry ? "The provider did not answer, trying again" : sentence(item.message).slice(0, -1);
  return <p class="diagnostic num foreign" title={item.message}>{words}{item.count > 1 ? ` (${count(item.count)})` : ""}.</p>;
}

/** One line under a finished run. */
export function RunFoot({ foot, session, locked }: { foot: Foot } & TreeProps) {
  const page = usePage();
  const { toEnd } = useContext(Reading);
  const [why, setWhy] = useState("");
  const key = useRef(crypto.randomUUID());
  const regenerate = async (): Promise<void> => {
    const branched = await page.act.branch(session, foot.userEntry, false);
    const outcome = branched.ok ? await page.act.start(session, "", key.current) : branched;
    key.current = crypto.randomUUID();
    const refused = outcome.ok ? "" : outcome.code === Code.SessionBusy || outcome.code === RESTCode.Conflict ? "Another run has just started." : refusal(outcome);
    if (outcome.ok) {
      toEnd();
    } else if (branched.ok) {
      tell(refused, null); // the branch may have taken this line away
    }
    setWhy(branched.ok ? "" : refused);
  };
  const fork = async (): Promise<void> => {
    const outcome = await page.act.fork(session, foot.lastEntry);
    if (outcome.ok) {
      page.go(toSession(outcome.value.id));
    } else {
      setWhy(refusal(outcome));
    }
  };
  return (
    <div class="runfoot">
      <span class="num">{footWords(foot)}</span>
      {foot.attempt && <Switcher attempt={foot.attempt} session={session} locked={locked} />}
      <span class="acts on-hover">
        {foot.text !== "" && <IconButton icon="copy" label="Copy the answer" onClick={() => void copy(foot.text)} />}
        {foot.userEntry !== "" && <IconButton icon="redo" label="Regenerate" off={locked} onClick={() => void regenerate()} />}
        {foot.lastEntry !== "" && <IconButton icon="fork" label="Fork from here" onClick={() => void fork()} />}
      </span>
      {why !== "" && <span class="bad" role="alert">{why}</span>}
    </div>
  );
}

/** "3 steps · 4 min 12 s · 18.4k in, 2.1k out · $0.031" */
export function footWords(foot: Foot): string {
  const parts = [plural(foot.steps, "step"), duration(foot.duration)];
  if (foot.inputTokens !== null || foot.outputTokens !== null) {
    const least = foot.partial ? "at least " : "";
    parts.push(`${least}${tokens(foot.inputTokens ?? 0)} in, ${tokens(foot.outputTokens ?? 0)} out`);
  }
  parts.push(foot.cost === null ? "cost not reported" : cost(foot.cost));
  return parts.join(" · ");
}
