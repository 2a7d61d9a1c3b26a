// The log inspector: the log as it is, known types and unknown ones alike.

import { type ReadonlySignal, useSignal } from "@preact/signals";
import { useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { EventType, type LogEvent } from "../../protocol.gen.ts";
import { count, instant, position } from "../format.ts";
import { Icon, Status } from "../icons.tsx";
import { copy } from "../live.ts";
import { Link } from "../link.tsx";
import { shownUpto } from "../../state/select.ts";
import { usePage } from "../page.ts";
import { holds } from "../timeline/runs.ts";
import { PanelFrame } from "./panel.tsx";
import { type LogRow, logRows, merged, mostRows } from "./rows.ts";

const pageSize = 200; // events read at once
const tick = 2_000; // ms between reads while the log may have grown

export function LogPanel({ session, seq }: { session: string; seq: number }) {
  const page = usePage();
  const filter = useSignal("");
  const hide = useSignal(true);
  const opened = useSignal<ReadonlySet<number>>(new Set(seq >= 0 ? [seq] : []));
  const box = useRef<HTMLUListElement>(null);
  const following = useSignal(seq < 0);
  const row = page.app.value.rows.get(session);
  const end = row ? Math.max(row.last_seq, shownUpto(page.app.value)) : -1;
  const leftAt = useSignal(end); // where the log ended when the reader was at its end last
  const log = useLog(session, seq, following);
  useEffect(() => {
    if (leftAt.value < 0) {
      leftAt.value = end; // the session was not read yet
    }
  }, [end]);
  const rows = useMemo(() => logRows(log.events, filter.value, hide.value), [log.events, filter.value, hide.value]);
  const last = log.events[log.events.length - 1]?.seq ?? -1;
  const fresh = Math.max(0, end, last) - leftAt.value;
  const shown = (id: string): boolean => page.timeline.value?.items.some((item) => holds(item, id)) === true;

  useLayoutEffect(() => {
    if (following.value && box.current) {
      box.current.scrollTop = box.current.scrollHeight;
    }
  }, [rows, following.value]);
  useEffect(() => {
    if (seq >= 0 && log.events.length > 0) {
      box.current?.querySelector(`[data-seq="${seq}"]`)?.scrollIntoView({ block: "center" });
    }
  }, [seq, log.events.length > 0]);

  const toggle = (at: number): void => {
    const next = new Set(opened.value);
    opened.value = next.delete(at) ? next : next.add(at);
  };
  const leave = (): void => {
    if (following.value) {
      following.value = false;
      leftAt.value = Math.max(end, last);
    }
  };
  const follow = (): void => {
    following.value = true;
    log.toEnd();
  };
  const lastTop = useRef(0);
  /** The scroll bar, too: up is away from the end, also when nothing else tells of it. */
  const scrolled = ({ scrollTop, scrollHeight, clientHeight }: HTMLElement): void => {
    if (scrollTop < lastTop.current && scrollHeight - scrollTop - clientHeight > 1) {
      leave();
    }
    lastTop.current = scrollTop;
  };
  const first = log.events[0]?.seq;
  return (
    <PanelFrame
      name="Log"
      head={
        <>
          <span class="muted num meta-plain">{first !== undefined && `${position(first)} to ${position(last)}`}</span>
          <span class="grow" />
          <button type="button" class="btn small num" aria-pressed={following.value} onClick={() => (following.value ? leave() : follow())}>
            {following.value ? <><Status is="live" />Following</> : fresh > 0 ? `Follow, ${count(fresh)} new` : "Follow"}
          </button>
        </>
      }
    >
      <div class="filters">
        <label class="find">
          <Icon name="search" />
          <input type="search" placeholder="Filter type or text" aria-label="Filter type or text" value={filter.value} onInput={(e) => (filter.value = e.currentTarget.value)} />
        </label>
        <button type="button" class="btn small" aria-pressed={hide.value} onClick={() => (hide.value = !hide.value)}>Hide chunks</button>
      </div>
      <ul
        ref={box} class="ev" tabIndex={0} aria-label="Events"
        onWheel={(e) => e.deltaY < 0 && leave()} onScroll={(e) => scrolled(e.currentTarget)}
        onKeyDown={(e) => ["PageUp", "Home", "ArrowUp"].includes(e.key) && leave()}
      >
        {first !== undefined && first > 0 && (
          <li class="words"><button type="button" class="btn small" onClick={() => { leave(); log.earlier(); }}>Load earlier</button></li>
        )}
        {rows.map((row) => <Row key={rowKey(row)} row={row} opened={opened.value} toggle={toggle} session={session} shown={shown} />)}
        {log.problem !== "" && (
          <li class="words" role="alert">The log could not be read. <button type="button" class="btn small" onClick={log.retry}>Try again</button></li>
        )}
      </ul>
    </PanelFrame>
  );
}

function rowKey(row: LogRow): string {
  return row.is === "fold" ? `fold ${row.from}` : String(row.event.seq);
}

interface RowProps {
  row: LogRow;
  opened: ReadonlySet<number>;
  toggle: (seq: number) => void;
  session: string;
  /** whether an event is seen in the conversation */
  shown: (id: string) => boolean;
}

function Row({ row, opened, toggle, session, shown }: RowProps) {
  if (row.is === "fold") {
    const open = opened.has(-row.from - 1);
    return (
      <>
        <li class="fold">
          <button type="button" aria-expanded={open} onClick={() => toggle(-row.from - 1)}>
            <span class="n">…</span>
            <span class="c clip">{row.events.length} × {row.type}</span>
            <span class="c num">{position(row.from)} to {position(row.to)}</span>
          </button>
        </li>
        {open && row.events.map((event) => <Row row={{ is: "event", event }} opened={opened} toggle={toggle} session={session} shown={shown} />)}
      </>
    );
  }
  const { event } = row;
  const open = opened.has(event.seq);
  return (
    <li class={open ? "on" : undefined} data-seq={event.seq}>
      <button type="button" aria-expanded={open} onClick={() => toggle(event.seq)} title={instant(event.at)}>
        <span class="n">{event.seq}</span>
        <span class={event.type === EventType.ApprovalRequested ? "t clip need-text" : "t clip"}>{event.type}</span>
        <span class="c clip foreign">{JSON.stringify(event.payload).slice(0, 300)}</span>
      </button>
      {open && <Envelope event={event} session={session} shown={shown(event.id)} />}
    </li>
  );
}

/** The whole event, as it stands in the log. */
function Envelope({ event, session, shown }: { event: LogEvent; session: string; shown: boolean }) {
  const text = JSON.stringify(event, null, 2);
  return (
    <div class="wide">
      <pre class="foreign" tabIndex={0} role="region" aria-label={`Event ${event.seq}`}>
        {text.split(/("(?:[^"\\]|\\.)*"(?=:))/).map((piece, i) => (i % 2 === 1 ? <span class="k">{piece}</span> : piece))}
      </pre>
      <div class="do">
        <button type="button" class="btn small" onClick={() => void copy(text)}><Icon name="copy" />Copy</button>
        {shown && <Link class="btn small" to={{ at: "session", session, entry: event.id, panel: besides() ? { is: "log", seq: event.seq } : null }}>Show in conversation</Link>}
      </div>
    </div>
  );
}

/** Whether the panel stands beside the conversation, not over it. */
function besides(): boolean {
  return !matchMedia("(max-width: 1180px)").matches;
}

interface Log {
  events: readonly LogEvent[];
  problem: string;
  earlier: () => void;
  toEnd: () => void;
  retry: () => void;
}

/** Reads the log from a position, or its end, and what comes after it while it is looked at. */
function useLog(session: string, seq: number, following: ReadonlySignal<boolean>): Log {
  const { act, app } = usePage();
  const events = useSignal<readonly LogEvent[]>([]);
  const problem = useSignal("");
  const busy = useRef(false);
  const cursors = [...app.value.runs.values()].reduce((n, run) => (run.session === session ? Math.max(n, run.cursor) : n), 0);

  const read = async (from: number): Promise<void> => {
    if (busy.current) {
      return;
    }
    busy.current = true;
    const outcome = await act.log(session, from, pageSize);
    busy.current = false;
    problem.value = outcome.ok ? "" : outcome.message;
    if (outcome.ok && outcome.value.length > 0) {
      events.value = merged(events.value, outcome.value);
    }
  };
  const onward = (): void => {
    if (!following.peek() && events.peek().length >= mostRows) {
      return; // what comes would push out what is being read
    }
    const last = events.peek()[events.peek().length - 1];
    void read(last ? last.seq + 1 : seq < 0 ? -1 : Math.max(0, seq - pageSize / 2));
  };
  useEffect(() => {
    onward();
    const timer = setInterval(() => document.visibilityState === "visible" && onward(), tick);
    return () => clearInterval(timer);
  }, [session]);
  useEffect(onward, [cursors]);
  const earlier = (): void => {
    const first = events.peek()[0]?.seq ?? 0;
    void read(Math.max(0, first - pageSize));
  };
  return { events: events.value, problem: problem.value, earlier, toEnd: () => void read(-1), retry: onward };
}
