// A text on its way: it leaves the box only when the server has it.

import { signal, type Signal } from "@preact/signals";
import { useEffect, useLayoutEffect } from "preact/hooks";
import { Source } from "../../protocol.gen.ts";
import { textOf } from "../../state/item.ts";
import { shownUpto } from "../../state/select.ts";
import type { SessionState } from "../../state/types.ts";
import { type Page, usePage } from "../page.ts";
import { refusal } from "../words.ts";
import { keepTry, keptTry, type Target, type Try } from "./try.ts";

export type Phase =
  | { is: "idle" }
  | { is: "sending" }
  /** why it was refused; queue: it can be queued instead, into that run */
  | { is: "refused"; why: string; queue: string }
  /** nobody knows whether it arrived */
  | { is: "unconfirmed" };

export interface Sending {
  phase: Phase;
  send(target: Target): void;
  /** repeats what was not confirmed */
  again(): void;
}

/** The last try of an owner in a session. It outlives the box: a look at another session takes that away. */
interface Desk {
  phase: Signal<Phase>;
  last: Try | null;
}

const idle: Phase = { is: "idle" };
const desks = new WeakMap<Page, Map<string, Desk>>();

function deskOf(page: Page, session: string): Desk {
  const all = desks.get(page) ?? new Map<string, Desk>();
  desks.set(page, all);
  const key = `${page.local.owner}:${session}`; // a box may be drawn before its owner is known
  let desk = all.get(key);
  if (!desk) {
    const last = keptTry(page.local, session); // the page was loaded anew before its answer came
    desk = { phase: signal(last ? { is: "unconfirmed" } : idle), last };
    all.set(key, desk);
  }
  return desk;
}

/** Sends a text, which is the draft of the session until the server has it. What was not confirmed is tried again as it was. */
export function send(page: Page, session: string, text: string, target: Target): void {
  const { phase, last } = deskOf(page, session);
  if (phase.peek().is === "unconfirmed" && last?.text === text) {
    void attempt(page, session, last);
    return;
  }
  const since = new Date(page.now.value).toISOString();
  void attempt(page, session, { text, target, key: crypto.randomUUID(), since, seq: shownUpto(page.app.value), tried: false });
}

async function attempt(page: Page, session: string, t: Try): Promise<void> {
  const desk = deskOf(page, session);
  desk.last = t;
  keepTry(page.local, session, { ...t, tried: true });
  desk.phase.value = { is: "sending" };
  const outcome = await deliver(page, session, t);
  if (desk.last !== t) {
    return; // the log showed it in the meantime
  }
  if (outcome.ok) {
    done(page, session, t);
  } else if (outcome.code === "unreachable") {
    desk.phase.value = { is: "unconfirmed" };
  } else {
    const run = page.app.value.rows.get(session)?.live_run_id ?? "";
    const busy = outcome.code === "conflict" || outcome.code === "session_busy";
    const queue = busy && t.target.to === "start" ? run : "";
    const ended = t.target.to === "queue" && outcome.code === "not_found";
    const why = queue !== "" ? "A run has just started. Your text can be queued." : ended ? "That run has ended." : refusal(outcome);
    desk.phase.value = { is: "refused", why, queue };
    keepTry(page.local, session, null); // it is known not to be there
  }
}

/** The server has it: the box is empty, unless another text stands in it by now. */
function done(page: Page, session: string, t: Try): void {
  drop(page, session);
  if (page.local.draft(session) === t.text) {
    page.local.setDraft(session, "");
  }
}

function drop(page: Page, session: string): void {
  const desk = deskOf(page, session);
  desk.last = null;
  desk.phase.value = idle;
  keepTry(page.local, session, null);
}

/** text is what stands in the box: a changed one is another one, and nothing is said of the last try. */
export function useSending(session: string, text: string): Sending {
  const page = usePage();
  const desk = deskOf(page, session);
  const phase = desk.phase.value;
  const open = phase.is === "unconfirmed" ? page.app.value.open : null; // else no chunk is of interest here
  useLayoutEffect(() => {
    if (phase.is !== "sending" && desk.last && desk.last.text !== text) {
      drop(page, session);
    }
  }, [text, phase]);
  useEffect(() => {
    const t = desk.last;
    if (t && phase.is === "unconfirmed" && open?.id === session && holds(open, t)) {
      done(page, session, t);
    }
  }, [open, phase]);
  return {
    phase,
    send: (target) => send(page, session, text, target),
    again: () => {
      if (desk.last) {
        void attempt(page, session, desk.last);
      }
    },
  };
}

/** A queued text has no key: before it is sent again, inbox and log are read. */
async function deliver({ act }: Page, session: string, t: Try): ReturnType<Page["act"]["queue"]> {
  if (t.target.to === "start") {
    const outcome = await act.start(session, t.text, t.key);
    return outcome.ok ? { ok: true, value: undefined } : outcome;
  }
  if (t.tried) {
    const there = await act.arrived(session, t.text, t.since);
    if (!there.ok || there.value) {
      return there.ok ? { ok: true, value: undefined } : there;
    }
  }
  t.tried = true;
  return act.queue(t.target.run, t.target.queue, t.text);
}

/** Whether the log or the inbox shows the text since it was tried. */
function holds(open: SessionState, t: Try): boolean {
  if (open.inbox.some((item) => item.text === t.text && item.queued_at >= t.since)) {
    return true;
  }
  for (const entry of open.entries.values()) {
    const { content } = entry.payload as { content?: unknown };
    if (entry.seq > t.seq && entry.source.type === Source.User && textOf(content).text === t.text) {
      return true;
    }
  }
  return false;
}
