// The timeline: runs on their rails, in a box that the reader scrolls.

import { useSignal } from "@preact/signals";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { SessionStatus } from "../../protocol.gen.ts";
import type { Timeline as Items, TimelineItem } from "../../state/types.ts";
import { Reading } from "../fold.ts";
import { count, date, instant } from "../format.ts";
import { Icon } from "../icons.tsx";
import { Link } from "../link.tsx";
import { type Page, usePage } from "../page.ts";
import { toSession } from "../route.ts";
import { connected, titleOf } from "../words.ts";
import { useKeptEdits } from "./edits.ts";
import { TimelineEntry } from "./entry.tsx";
import { Astray, Paused } from "./notes.tsx";
import { drawnFor, holds, isNews, runsOf } from "./runs.ts";
import { near, Scroller } from "./scroll.ts";
import { around, earlier, grown, kept, later, newest, screenful, type Window } from "./window.ts";

/** What other parts ask of the timeline. */
export interface TimelineHandle {
  toEnd(): void;
  /** to a text of the person, before (−1) or after (1) what is in view */
  toText(way: -1 | 1): void;
  /** to the question that stands first; false: none is in the document */
  toAsk(): boolean;
}

interface TimelineProps {
  session: string;
  items: Items;
  handle: { current: TimelineHandle | null };
  /** whether no question is in view, where one stands */
  onAway: (away: boolean) => void;
}

export function TimelineView({ session, items, handle, onAway }: TimelineProps) {
  const page = usePage();
  const box = useRef<HTMLDivElement>(null);
  const column = useRef<HTMLDivElement>(null);
  const scroller = useRef<Scroller | null>(null);
  const pinned = useSignal(true);
  const leftAt = useSignal(-1); // newest seq when the reader left the end
  const all = items.items;
  const { window, setWindow } = useWindow(all);
  const asked = page.route.value.at === "session" ? page.route.value.entry : "";
  const log = asked === "" ? null : page.app.value.open;
  const found = useMemo(() => drawnFor(log, all, asked), [asked, log?.entries, log?.leaf, all]);

  const now = useRef({ all, window, earlierPages: items.earlier });
  now.current = { all, window, earlierPages: items.earlier };

  useLayoutEffect(() => {
    if (!box.current || !column.current) {
      return;
    }
    const s = new Scroller(box.current, column.current, {
      pinned: (is) => {
        pinned.value = is;
        leftAt.value = is ? -1 : newestSeq(now.current.all);
      },
      top: () => {
        if (now.current.window.from > 0) {
          setWindow(earlier(now.current.window));
        } else if (now.current.earlierPages === "more") {
          page.act.loadEarlier();
        }
      },
      bottom: () => setWindow(later(now.current.window, now.current.all.length)),
    });
    scroller.current = s;
    return () => s.end();
  }, [session]);

  const toEnd = (): void => {
    setWindow(newest(now.current.all.length));
    requestAnimationFrame(() => scroller.current?.pin());
  };
  handle.current = {
    toEnd,
    toText: (way) => stepTo(box.current, scroller.current, way),
    toAsk: () => goToAsk(box.current, scroller.current),
  };

  useAnchor(box, scroller, all[window.from]?.key ?? "");
  useLayoutEffect(() => {
    scroller.current?.holdsEnd(window.to >= all.length);
    scroller.current?.follow();
  });
  const astray = useOpening(session, all, found, scroller, box, setWindow);
  useAway(box, all, window, onAway);
  useReadMark(session, pinned.value && window.to >= all.length);
  useKeptEdits(session);

  const shown = all.slice(window.from, window.to);
  const runs = useMemo(() => runsOf(shown), [all, window.from, window.to]);
  const row = page.rows.value.get(session);
  const open = items.liveRun !== "";
  const locked = lockedBy(page, open);
  const paused = row?.status === SessionStatus.Resumable;
  const fresh = pinned.value ? 0 : all.filter((item) => isNews(item) && item.seq > leftAt.value).length;
  const reading = useMemo(() => ({ session, pinned: () => scroller.current?.pinned ?? true, toEnd: () => handle.current?.toEnd() }), [session]);
  const lastKey = all[all.length - 1]?.key;
  return (
    <Reading.Provider value={reading}>
      <div ref={box} class="scroll" role="log" aria-live="off" aria-label="Timeline" tabIndex={0}>
        <div ref={column} class="col">
          {window.from > 0 ? null : <Start session={session} items={items} />}
          {all.length === 0 && <p class="nothing">Nothing in this session yet.</p>}
          {runs.map(({ key, run, items: own }) => {
            const live = open && run !== "" && run === items.liveRun && !paused;
            const parked = live && own.some(stands);
            const entries = own.map((item) => (
              <TimelineEntry
                key={item.key} item={item} session={session} locked={locked} found={found !== "" && holds(item, found)}
                head={live && item === own[own.length - 1] && item.is !== "user"}
                final={!open && (item.key === lastKey || all[all.length - 2]?.key === item.key && all[all.length - 1]?.is === "foot")}
              />
            ));
            return run === "" ? entries : <div key={key} class={`turn${parked ? " parked" : live ? " live" : ""}`}>{entries}</div>;
          })}
          {paused && <Paused session={session} />}
          {astray && <Astray session={session} entry={found} locked={locked} />}
          {row?.compacting && <div class="mark">Summarising…</div>}
        </div>
      </div>
      {!pinned.value && (
        <div class="jump-place">
          <button type="button" class="btn jump num" onClick={toEnd}>
            <Icon name="arrow" />{fresh > 0 ? `${count(fresh)} new` : "Newest"}
          </button>
        </div>
      )}
    </Reading.Provider>
  );
}

/** Why branching does nothing now; "" = it works. */
function lockedBy({ me, connection }: Page, open: boolean): string {
  if (me.value?.allow.includes("inject") === false) {
    return "This token can watch only";
  }
  return open ? "Stop the run to switch" : connected(connection.value) ? "" : "No connection";
}

function stands(item: TimelineItem): boolean {
  return item.is === "call" ? item.state === "standing" : item.is === "group" && item.calls.some((call) => call.state === "standing");
}

function newestSeq(items: readonly TimelineItem[]): number {
  return items.reduce((seq, item) => Math.max(seq, item.seq), -1);
}

/** What stands before the oldest entry. */
function Start({ session, items }: { session: string; items: Items }) {
  const { act, now, rows } = usePage();
  switch (items.earlier) {
    case "more":
    case "loading":
      return (
        <div class="mark">
          <button type="button" class="btn small num" aria-disabled={items.earlier === "loading"} onClick={() => items.earlier === "more" && act.loadEarlier()}>
            {items.earlier === "loading" ? "Reading…" : "Load 100 earlier"}
          </button>
        </div>
      );
    case "failed":
      return (
        <div class="note">
          <span>Earlier entries could not be read.</span>
          <button type="button" class="btn small" onClick={() => act.loadEarlier()}>Try again</button>
        </div>
      );
    default: {
      const row = rows.value.get(session);
      return row ? (
        <>
          {row.forked_from !== undefined && <ForkedFrom source={row.forked_from} />}
          {items.items.length > 0 && <div class="mark"><span title={instant(row.created_at)}>Start of the session, {date(row.created_at, now.value)}</span></div>}
        </>
      ) : null;
    }
  }
}

/** What a fork was copied from; of a session that is gone only the id is known. */
function ForkedFrom({ source }: { source: string }) {
  const row = usePage().rows.value.get(source);
  return (
    <div class="mark">
      <span class="clip">Forked from {row ? <Link class="act foreign" to={toSession(source)}>{titleOf(row)}</Link> : <span class="mono foreign">{source}</span>}</span>
    </div>
  );
}

/** ms until what is above the screen comes in: the browser has the first screen to paint. */
const breath = 150;
/** ms between two slices of it */
const frame = 16;

/** The window over the items, kept in place while they change. The newest are drawn first. */
function useWindow(all: readonly TimelineItem[]): { window: Window; setWindow: (w: Window) => void } {
  const [, redraw] = useState(0);
  const state = useRef({ all, window: screenful(all.length, globalThis.innerHeight), opening: true });
  const { all: before, window: was, opening } = state.current;
  if (before !== all) {
    const key = before[was.from]?.key;
    const at = key === undefined ? -1 : all.findIndex((item) => item.key === key);
    let window = kept(was, before.length, all.length, at);
    if (was.from === 0 && window.from > 0 && at > 0) {
      window = earlier(window); // a page was read: it stands before the first item, and was asked for
    }
    state.current = { all, window, opening };
  }
  const setWindow = (window: Window, opening = false): void => {
    state.current = { ...state.current, window, opening };
    redraw((n) => n + 1);
  };
  const pause = useRef(breath);
  useEffect(() => {
    const timer = setTimeout(() => {
      pause.current = frame;
      const { all, window, opening } = state.current;
      const more = opening ? grown(window, all.length) : window;
      if (more !== window) {
        setWindow(more, true);
      }
    }, pause.current);
    return () => clearTimeout(timer);
  }, [state.current.window.from]);
  return { window: state.current.window, setWindow };
}

/**
 * Items that come in above: where the browser does not anchor by itself (at the very top
 * it never does), the first entry that was seen is put back where it was.
 */
function useAnchor(box: { current: HTMLElement | null }, scroller: { current: Scroller | null }, firstKey: string): void {
  const before = useRef({ firstKey, key: "", top: 0 });
  // Read while drawing, before the document changes: only when the top is about to.
  if (before.current.firstKey !== firstKey && box.current) {
    const edge = box.current.getBoundingClientRect().top;
    const seen = [...box.current.querySelectorAll<HTMLElement>(".e")].find((e) => e.getBoundingClientRect().bottom > edge);
    before.current = { firstKey, key: seen?.dataset.key ?? "", top: seen?.getBoundingClientRect().top ?? 0 };
  }
  useLayoutEffect(() => {
    const { key, top } = before.current;
    const place = key === "" ? null : entryOf(box.current, key);
    if (place && box.current && !scroller.current?.pinned) {
      box.current.scrollTop += place.getBoundingClientRect().top - top;
    }
    before.current.key = "";
  }, [firstKey]);
}

function entryOf(box: HTMLElement | null, key: string): HTMLElement | null {
  return box?.querySelector<HTMLElement>(`.e[data-key="${CSS.escape(key)}"]`) ?? null;
}

/**
 * Opening a session: the entry of the address, else the first unread one, else the end.
 * True when that entry was looked for, and is not among the items.
 */
function useOpening(
  session: string, all: readonly TimelineItem[], found: string,
  scroller: { current: Scroller | null }, box: { current: HTMLElement | null }, setWindow: (w: Window) => void,
): boolean {
  const page = usePage();
  const done = useRef("");
  const asked = useRef("");
  const [sought, setSought] = useState("");
  const wanted = `${session} ${found}`;
  const missing = found !== "" && !all.some((item) => holds(item, found));
  useEffect(() => {
    if (page.app.value.open?.leaf === null || done.current === wanted) {
      return; // which entries are shown is not known yet, or they have been opened
    }
    if (missing) {
      if (asked.current !== wanted) {
        asked.current = wanted;
        void page.act.find(found).then(() => setSought(wanted));
      }
      return; // it is gone to as soon as it is there
    }
    const first = !done.current.startsWith(`${session} `);
    const mark = page.local.readMark(session);
    const index = found !== "" ? all.findIndex((item) => holds(item, found)) : first && mark >= 0 ? all.findIndex((item) => item.seq > mark && isNews(item)) : -1;
    done.current = wanted;
    const key = all[index]?.key;
    if (key !== undefined) {
      setWindow(around(index, all.length));
      requestAnimationFrame(() => {
        const place = entryOf(box.current, key);
        if (place) {
          scroller.current?.show(place, 1 / 3);
          settle(box.current, scroller.current);
        }
      });
    } else if (first) {
      scroller.current?.pin();
    }
  }, [session, found, all]);
  return missing && sought === wanted;
}

/** What fits on the screen is at the end, too. */
function settle(box: HTMLElement | null, scroller: Scroller | null): void {
  if (box && box.scrollHeight - box.scrollTop - box.clientHeight < 1) {
    scroller?.pin();
  }
}

/** Tells whether the questions are out of view: what is drawn new is looked at after it was laid out. */
function useAway(box: { current: HTMLElement | null }, all: readonly TimelineItem[], { from, to }: Window, onAway: (away: boolean) => void): void {
  useEffect(() => {
    const asks = box.current?.querySelectorAll(".ask") ?? [];
    if (asks.length === 0) {
      onAway(to < all.length); // it stands among the newest
      return;
    }
    const seen = new Set<Element>();
    const watcher = new IntersectionObserver((changes) => {
      for (const { target, isIntersecting } of changes) {
        seen[isIntersecting ? "add" : "delete"](target);
      }
      onAway(seen.size === 0);
    }, { root: box.current, rootMargin: `0px 0px -${near}px 0px` });
    asks.forEach((ask) => watcher.observe(ask));
    return () => watcher.disconnect();
  }, [all, from, to]);
}

/** Seen is what came while the page is visible and the end in view. */
function useReadMark(session: string, atEnd: boolean): void {
  const page = usePage();
  const news = page.rows.value.get(session)?.newsSeq ?? -1;
  useEffect(() => {
    const see = (): void => {
      if (atEnd && document.visibilityState === "visible" && news > page.local.readMark(session)) {
        page.local.setReadMark(session, news);
      }
    };
    see();
    document.addEventListener("visibilitychange", see);
    return () => document.removeEventListener("visibilitychange", see);
  }, [session, atEnd, news]);
}

function stepTo(box: HTMLElement | null, scroller: Scroller | null, way: -1 | 1): void {
  const edge = (box?.getBoundingClientRect().top ?? 0) + 24;
  const texts = [...(box?.querySelectorAll<HTMLElement>(".you-text") ?? [])];
  const from = texts.map((t) => t.getBoundingClientRect().top - edge);
  const at = way < 0 ? from.findLastIndex((d) => d < -2) : from.findIndex((d) => d > 2);
  const place = texts[at]?.closest<HTMLElement>(".e");
  if (box && place) {
    scroller?.show(place, 24 / box.clientHeight);
  }
}

/** Focuses the card, never a button of it. */
function goToAsk(box: HTMLElement | null, scroller: Scroller | null): boolean {
  const card = box?.querySelector<HTMLElement>(".ask");
  if (!card) {
    return false;
  }
  scroller?.show(card, 1 / 3);
  card.focus({ preventScroll: true });
  return true;
}
