// A text on its way: it leaves the box only when the server has it.

import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { type Queue, Source } from "../../protocol.gen.ts";
import { textOf } from "../../state/item.ts";
import { shownUpto } from "../../state/select.ts";
import type { SessionState } from "../../state/types.ts";
import { type Page, usePage } from "../page.ts";
import { refusal } from "../words.ts";

export type Phase =
  | { is: "idle" }
  | { is: "sending" }
  /** why it was refused; queue: it can be queued instead, into that run */
  | { is: "refused"; why: string; queue: string }
  /** nobody knows whether it arrived */
  | { is: "unconfirmed" };

/** Where a text goes. */
export type Target = { to: "start" } | { to: "queue"; run: string; queue: Queue };

interface Try {
  text: string;
  target: Target;
  /** the same for a repeated try, so that it starts one run */
  key: string;
  /** server instant before it, and log position: what is newer may be this text */
  since: string;
  seq: number;
  tried: boolean;
}

export interface Sending {
  phase: Phase;
  send(text: string, target: Target): void;
  /** repeats what was not confirmed */
  again(): void;
  /** a changed text is another one */
  forget(): void;
}

/** cleared is called when the server has the text. */
export function useSending(session: string, cleared: () => void): Sending {
  const page = usePage();
  const phase = useSignal<Phase>({ is: "idle" });
  const last = useRef<Try | null>(null);

  const done = (): void => {
    last.current = null;
    phase.value = { is: "idle" };
    cleared();
  };
  const attempt = async (t: Try): Promise<void> => {
    phase.value = { is: "sending" };
    const outcome = await deliver(page, session, t);
    if (last.current !== t) {
      return; // the log showed it in the meantime
    }
    if (outcome.ok) {
      done();
    } else if (outcome.code === "unreachable") {
      phase.value = { is: "unconfirmed" };
    } else {
      const run = page.app.value.rows.get(session)?.live_run_id ?? "";
      const busy = outcome.code === "conflict" || outcome.code === "session_busy";
      const queue = busy && t.target.to === "start" ? run : "";
      const ended = t.target.to === "queue" && outcome.code === "not_found";
      const why = queue !== "" ? "A run has just started. Your text can be queued." : ended ? "That run has ended." : refusal(outcome);
      phase.value = { is: "refused", why, queue };
    }
  };
  const open = page.app.value.open;
  useEffect(() => {
    const t = last.current;
    if (t && phase.value.is === "unconfirmed" && open?.id === session && holds(open, t)) {
      done();
    }
  }, [open, phase.value]);

  return {
    phase: phase.value,
    send: (text, target) => {
      const { app, now } = page;
      const t: Try = { text, target, key: crypto.randomUUID(), since: new Date(now.value).toISOString(), seq: shownUpto(app.value), tried: false };
      last.current = t;
      void attempt(t);
    },
    again: () => {
      if (last.current) {
        void attempt(last.current);
      }
    },
    forget: () => {
      if (phase.value.is !== "sending") {
        last.current = null;
        phase.value = { is: "idle" };
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
