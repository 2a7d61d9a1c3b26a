// Where a person writes.

import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { Queue, SessionStatus } from "../../protocol.gen.ts";
import type { SessionRow } from "../../state/types.ts";
import { ask } from "../dialog.tsx";
import { plural } from "../format.ts";
import { Icon } from "../icons.tsx";
import { Menu } from "../menu.tsx";
import { usePage } from "../page.ts";
import { connected, queues, queueWords, refusal } from "../words.ts";
import { stepping } from "../screen.ts";
import { type Phase, useSending } from "./sending.ts";
import { StopButton } from "./stop.tsx";
import type { Target } from "./try.ts";

interface ComposerProps {
  row: SessionRow;
  /** takes the newest waiting message back; null: there is none, or it was read */
  takeNewest: () => Promise<string | null>;
  /** sending shows the end again */
  onSend: () => void;
}

export function Composer({ row, takeNewest, onSend }: ComposerProps) {
  const page = usePage();
  const { local, connection, me } = page;
  const box = useRef<HTMLTextAreaElement>(null);
  const text = local.draft(row.id);
  const set = (now: string): void => local.setDraft(row.id, now);
  const sending = useSending(row.id, text);
  useHeight(box, text);
  useFirstFocus(box);

  if (me.value?.allow.includes("inject") === false) {
    return <p class="watch-only">This token can watch only.</p>;
  }
  const live = connected(connection.value);
  const open = row.live_run_id !== undefined && row.status !== SessionStatus.Resumable;
  const parked = row.status === SessionStatus.RequiresAction;
  const queue = local.queue(row.id);
  const locked = sending.phase.is === "sending";
  const blank = text.trim() === "";
  const off = locked || blank || !live;

  const target = (chosen: Queue): Target =>
    open && row.live_run_id !== undefined ? { to: "queue", run: row.live_run_id, queue: chosen } : { to: "start" };
  const send = (chosen: Queue): void => {
    if (!off) {
      sending.send(target(chosen));
      onSend();
    }
  };
  const keyed = async (event: KeyboardEvent): Promise<void> => {
    if (event.isComposing || event.keyCode === 229) {
      return; // an input method has the key
    }
    if (event.key === "Enter" && !event.shiftKey && !event.altKey) {
      event.preventDefault();
      send(event.ctrlKey || event.metaKey ? Queue.FollowUp : queue);
    } else if (event.key === "ArrowUp" && text === "" && !locked) {
      event.preventDefault();
      const taken = await takeNewest();
      if (taken !== null) {
        local.handBack(row.id, taken); // something may be written by now
      }
    }
  };
  const replace = (): void =>
    ask({
      title: "Replace this run?",
      text: `Denies ${plural(row.pending_count, "waiting call")} and starts a new run.`,
      act: "Replace this run",
      keep: "Keep",
      bad: true,
      then: async () => {
        const outcome = await page.act.replace(row.id, text);
        if (outcome.ok) {
          set("");
        }
        return outcome.ok ? "" : refusal(outcome);
      },
    });
  return (
    <>
      <div class="box">
        <textarea
          ref={box} id="message" aria-label="Message" placeholder={placeholder(live, open, parked)} value={text} readOnly={locked} rows={1}
          enterkeyhint="send" aria-describedby="why-not"
          onInput={(e) => set(e.currentTarget.value)}
          onKeyDown={(e) => void keyed(e)}
        />
        <div class="tools">
          {open && <QueueChoice row={row} queue={queue} />}
          <span class="grow hint clip">{locked ? "Sending…" : open ? queueWords(queue).hint : ""}</span>
          {open && <StopButton row={row} />}
          <SendButton off={off} why={!live ? "No connection" : ""} locked={locked} onSend={() => send(queue)} onReplace={parked ? replace : null} replaceOff={blank} />
        </div>
      </div>
      <Why phase={sending.phase} again={sending.again} queueIt={(run) => sending.send({ to: "queue", run, queue })} live={live} />
    </>
  );
}

function placeholder(live: boolean, open: boolean, parked: boolean): string {
  if (!live) {
    return "Write now, send when connected";
  }
  return parked ? "Message, read after your decision" : open ? "Message the running agent" : "Message the agent";
}

/** On a wide screen all of them, on a phone one button. */
function QueueChoice({ row, queue }: { row: SessionRow; queue: Queue }) {
  const { local } = usePage();
  return (
    <>
      <fieldset class="seg" role="radiogroup" aria-label="When the agent reads it">
        {queues.map((q) => (
          <label title={q.hint}>
            <input type="radio" name={`queue-${row.id}`} value={q.queue} checked={q.queue === queue} onChange={() => local.setQueue(row.id, q.queue)} />
            <span>{q.name}</span>
          </label>
        ))}
      </fieldset>
      <Menu
        label="When the agent reads it" class="btn quiet small pick"
        entries={queues.map((q) => ({ label: q.name, hint: q.hint, checked: q.queue === queue, act: () => local.setQueue(row.id, q.queue) }))}
      >
        {queueWords(queue).name}<Icon name="down" />
      </Menu>
    </>
  );
}

interface SendProps {
  off: boolean;
  why: string;
  locked: boolean;
  onSend: () => void;
  /** null: nothing stands that a new run would replace */
  onReplace: (() => void) | null;
  replaceOff: boolean;
}

function SendButton({ off, why, locked, onSend, onReplace, replaceOff }: SendProps) {
  const button = (
    <button type="button" class={`btn square${off ? "" : " primary"}`} aria-label={locked ? "Sending…" : "Send"} title={why || "Send  (Enter)"} aria-disabled={off} onClick={onSend}>
      <Icon name="send" />
    </button>
  );
  return onReplace === null ? button : (
    <span class={off ? "split" : "split primary"}>
      {button}
      <Menu
        label="Other ways to send" icon="down"
        entries={[{ label: "Replace this run", hint: "Denies what waits and starts anew", act: onReplace, off: replaceOff ? "Write a message first" : why }]}
      />
    </span>
  );
}

interface WhyProps {
  phase: Phase;
  live: boolean;
  again: () => void;
  queueIt: (run: string) => void;
}

function Why({ phase, live, again, queueIt }: WhyProps) {
  return (
    <div class="why" id="why-not" role="alert" hidden={phase.is !== "refused" && phase.is !== "unconfirmed"}>
      {phase.is === "refused" && (
        <>
          <span class={phase.queue === "" ? "bad" : undefined}>{phase.why}</span>
          {phase.queue !== "" && <button type="button" class="btn small" onClick={() => queueIt(phase.queue)}>Queue it</button>}
        </>
      )}
      {phase.is === "unconfirmed" && (
        <>
          <span>Not confirmed. It may have arrived.</span>
          <button type="button" class="btn small" aria-disabled={!live} onClick={() => live && again()}>Send again</button>
        </>
      )}
    </div>
  );
}

/** Grows with the text where the browser does not do it by itself. */
function useHeight(box: { current: HTMLTextAreaElement | null }, text: string): void {
  useLayoutEffect(() => {
    const area = box.current;
    if (area && !CSS.supports("field-sizing", "content")) {
      area.style.height = "auto";
      area.style.height = `${area.scrollHeight}px`;
    }
  }, [text]);
}

/** Only where a keyboard is likely: on a phone the focus would raise one over the text. */
function useFirstFocus(box: { current: HTMLTextAreaElement | null }): void {
  useEffect(() => {
    const free = document.activeElement === document.body || document.activeElement?.closest(".side") != null;
    const { now: stepped } = stepping;
    stepping.now = false;
    if (free && !stepped && matchMedia("(hover: hover) and (pointer: fine)").matches) {
      box.current?.focus({ preventScroll: true });
    }
  }, []);
}
