// Reads over REST what the reducer wants, and brings it back as inputs. One reading of a
// thing at a time; what is wanted meanwhile is read once more, for only a later start is newer.

import { ClientType, type ClientFrame, type Session } from "../protocol.gen.ts";
import type { Outcome, Want } from "../state/types.ts";
import { pageSize } from "../wire/paths.ts";
import type { Rest } from "../wire/rest.ts";
import type { Store } from "./store.ts";

/** ms before a reading that failed is tried again, as long as there is a connection. */
const again = 2_000;
/** Sessions whose newest entry is looked up after the list was read. */
const mostNews = 30;

export class Reader {
  readonly #store: Store;
  readonly #rest: Rest;
  readonly #send: (frame: ClientFrame) => boolean;
  readonly #isUp: () => boolean;
  readonly #readMark: (session: string) => number;
  readonly #busy = new Map<string, { again: boolean }>();
  #holes = new Map<string, AbortController>();

  constructor(store: Store, rest: Rest, send: (frame: ClientFrame) => boolean, isUp: () => boolean, readMark: (session: string) => number) {
    this.#readMark = readMark;
    this.#store = store;
    this.#rest = rest;
    this.#send = send;
    this.#isUp = isUp;
  }

  /** Does what is wanted; failures come back as inputs too. */
  take(wants: readonly Want[]): void {
    for (const want of wants) {
      void this.#once(want);
    }
  }

  async #once(want: Want): Promise<void> {
    const key = JSON.stringify(want);
    const busy = this.#busy.get(key);
    if (busy) {
      busy.again = true;
      return;
    }
    const mine = { again: false };
    this.#busy.set(key, mine);
    const done = await this.#read(want);
    this.#busy.delete(key);
    if (mine.again) {
      return this.#once(want);
    }
    if (!done) {
      setTimeout(() => {
        if (this.#isUp()) {
          void this.#once(want);
        }
      }, again);
    }
  }

  /** False when it failed and is worth another try. */
  async #read(want: Want): Promise<boolean> {
    const startedAt = this.#store.now.tick;
    switch (want.want) {
      case "list":
        return this.#list(startedAt);
      case "approvals": {
        const got = await this.#rest.approvals();
        if (got.ok) {
          this.#store.push({ is: "approvals", startedAt, approvals: got.value });
        }
        return isDone(got);
      }
      case "session": {
        const got = await this.#rest.session(want.session);
        if (got.ok) {
          this.#store.push({ is: "session", startedAt, session: got.value });
        } else if (got.status === 404) {
          this.#store.push({ is: "session_absent", session: want.session });
        }
        return isDone(got);
      }
      case "page":
        return this.#page(want.session, "", startedAt);
      case "earlier":
        return this.#page(want.session, want.before, startedAt);
      case "inbox":
        return this.#inbox(want.session, startedAt);
      case "subscribe":
        if (want.late) {
          await new Promise((resolve) => setTimeout(resolve, again));
        }
        this.#send({ type: ClientType.RunSubscribe, payload: { run_id: want.run, from_seq: want.from } });
        return true; // without a connection the next one replays it anyway
      case "frames":
        return this.#frames(want.run, want.from, want.next);
      case "reopen":
        if (this.#store.now.open?.id === want.session) {
          this.#store.apply({ is: "open", session: want.session });
        }
        return true;
    }
  }

  async #list(startedAt: number): Promise<boolean> {
    this.#store.push({ is: "list_loading" });
    const got = await this.#rest.sessions();
    this.#store.push(got.ok ? { is: "list", startedAt, sessions: got.value } : { is: "list_failed" });
    if (got.ok) {
      void this.#news(got.value);
    }
    return isDone(got);
  }

  /**
   * Titles and settings end many a log: whether something new stands behind a read mark is
   * told by the newest entry.
   */
  async #news(sessions: readonly Session[]): Promise<void> {
    const doubtful = sessions.filter((s) => {
      const mark = this.#readMark(s.id);
      return mark >= 0 && s.last_seq > mark && !s.live_run_id && s.id !== this.#store.now.open?.id;
    });
    for (const { id, last_seq } of doubtful.slice(0, mostNews)) {
      const got = await this.#rest.messages(id, 1, "");
      if (got.ok) {
        const newest = got.value.entries[0] as { seq: number } | undefined;
        this.#store.push({ is: "news", session: id, lastSeq: last_seq, seq: newest?.seq ?? -1 });
      }
    }
  }

  async #inbox(session: string, startedAt: number): Promise<boolean> {
    const got = await this.#rest.inbox(session);
    this.#store.push(got.ok ? { is: "inbox", session, startedAt, items: got.value } : { is: "inbox_failed", session });
    return isDone(got);
  }

  async #page(session: string, before: string, startedAt: number): Promise<boolean> {
    this.#store.push({ is: "page_loading", session, before });
    const got = await this.#rest.messages(session, pageSize, before);
    if (got.ok) {
      const { entries, logSeq } = got.value;
      const page = { session, startedAt, logSeq, entries, before, first: entries.length < pageSize };
      if (this.#store.now.open?.load === "ready") {
        this.#store.push({ is: "page", page });
      } else {
        this.#store.apply({ is: "page", page }); // drawn while the next frame is on its way
      }
    } else if (got.status === 404) {
      this.#store.push({ is: "session_absent", session });
    } else {
      this.#store.push({ is: "page_failed", session, before, problem: got.message });
    }
    return isDone(got) || before !== ""; // an older page is read again when somebody asks for it
  }

  /** Reads the page before the oldest entry; true when it is there or there is none. */
  async earlier(session: string): Promise<boolean> {
    this.#store.flush();
    const { open, tick } = this.#store.now;
    if (open?.id !== session || open.earlier === "start" || open.earlier === "loading") {
      return true;
    }
    return open.oldest === "" ? true : this.#page(session, open.oldest, tick);
  }

  async #frames(run: string, from: number, next: number): Promise<boolean> {
    this.#holes.get(run)?.abort();
    const stop = new AbortController();
    this.#holes.set(run, stop);
    const got = await this.#rest.frames(run, from, next, stop.signal);
    if (this.#holes.get(run) !== stop) {
      return true; // the hole has grown, and is read by a later reading
    }
    this.#holes.delete(run);
    this.#store.push(got.ok ? { is: "frames", run, from, next, frames: got.value } : { is: "frames_failed", run });
    return true; // a failure is shown, with a button
  }
}

/** Nothing that another try would mend. */
function isDone(outcome: Outcome<unknown>): boolean {
  return outcome.ok || (outcome.status >= 400 && outcome.status < 500 && outcome.status !== 429);
}
