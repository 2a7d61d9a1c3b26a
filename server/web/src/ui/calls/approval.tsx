// The card that asks a person. It takes no focus, is no dialog, and counts only what is
// done on purpose: its keys work inside it alone, and never in its first half second.

import { useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { RESTCode } from "../../protocol.gen.ts";
import type { Call, StandingCall } from "../../state/types.ts";
import { visible } from "../escape.ts";
import { exactClock, instant } from "../format.ts";
import { usePage } from "../page.ts";
import { connected, refusal } from "../words.ts";
import { indented, readArguments } from "./arguments.ts";
import { useGuard } from "./guard.ts";

type Deciding = "" | "approve" | "deny";

export function Approval({ call, standing }: { call: Call; standing: StandingCall }) {
  const page = usePage();
  const card = useRef<HTMLElement>(null);
  const id = useId();
  const ready = useGuard(card);
  const [deciding, setDeciding] = useState<Deciding>("");
  const [why, setWhy] = useState("");
  const [reasoning, setReasoning] = useState(false);
  const text = standing.arguments ?? call.arguments;
  const { main, more } = readArguments(text);
  const [json, setJSON] = useState(main === "" || more); // what has more fields shows all of them
  useHandBack(card);

  const live = connected(page.connection.value);
  const may = page.me.value?.allow.includes("approve") !== false;
  const off = deciding !== "" || !live;

  const decide = async (how: "approve" | "deny", reason: string): Promise<void> => {
    if (off || !may || !ready()) {
      return;
    }
    setDeciding(how);
    setWhy("");
    const outcome = how === "approve" ? await page.act.approve(standing) : await page.act.deny(standing, reason);
    if (!outcome.ok) {
      setDeciding("");
      const decided = outcome.code === RESTCode.NotFound || outcome.code === RESTCode.Conflict;
      setWhy(decided ? "Already decided." : refusal(outcome));
      if (decided) {
        page.act.reload();
      }
    } // else the wire says so, and the card becomes its call
  };
  const keyed = (event: KeyboardEvent): void => {
    const field = event.target instanceof HTMLInputElement;
    if (field || event.repeat || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey || !page.local.singleKeys()) {
      return;
    }
    if (event.key === "a" || event.key === "d") {
      event.preventDefault();
      event.stopPropagation();
      void decide(event.key === "a" ? "approve" : "deny", "");
    }
  };
  const asked = standing.created_at;
  return (
    <section ref={card} class="ask" tabIndex={-1} aria-labelledby={id} data-ask={`${standing.run_id} ${standing.tool_call_id}`} onKeyDown={keyed}>
      <header>
        <b id={id} class="foreign">{call.name} wants to run this</b>
        <span class="grow" />
        {asked && <time class="meta num" dateTime={asked} title={instant(asked)}>asked {exactClock(asked)}</time>}
      </header>
      {main !== "" && <Escaped text={main} name="What it wants to run" />}
      {json && <Escaped text={indented(text)} name="Arguments as JSON" />}
      {!may ? (
        <div class="do muted">This token can watch only.</div>
      ) : reasoning ? (
        <div class="do">
          <Reason off={off} busy={deciding === "deny"} onDeny={(reason) => void decide("deny", reason)} onCancel={() => setReasoning(false)} />
          <Why text={why} />
        </div>
      ) : (
        <div class="do">
          <button type="button" class="btn primary" aria-disabled={off} onClick={() => void decide("approve", "")}>
            {deciding === "approve" ? "Approving…" : <>Approve <kbd aria-hidden="true">A</kbd></>}
          </button>
          <button type="button" class="btn" aria-disabled={off} onClick={() => void decide("deny", "")}>
            {deciding === "deny" ? "Denying…" : <>Deny <kbd aria-hidden="true">D</kbd></>}
          </button>
          <button type="button" class="btn quiet" aria-disabled={off} onClick={() => off || setReasoning(true)}>Deny with a reason…</button>
          <span class="meta">
            <span class="wide">Exact arguments, one use. </span>
            {main !== "" && (
              <button type="button" class="text-btn" aria-expanded={json} onClick={() => setJSON(!json)}>{json ? "Hide JSON" : "Show JSON"}</button>
            )}
          </span>
          <Why text={why} />
        </div>
      )}
    </section>
  );
}

function Why({ text }: { text: string }) {
  return <p class="field-error" role="alert" hidden={text === ""}>{text}</p>;
}

/** Text as it was sent; what could not be seen stands as an escape. */
function Escaped({ text, name }: { text: string; name: string }) {
  return (
    <pre class="pane foreign" dir="ltr" tabIndex={0} role="region" aria-label={name}>
      {visible(text).map((piece) => (piece.escaped ? <span class="esc">{piece.text}</span> : piece.text))}
    </pre>
  );
}

function Reason({ off, busy, onDeny, onCancel }: { off: boolean; busy: boolean; onDeny: (reason: string) => void; onCancel: () => void }) {
  const field = useRef<HTMLInputElement>(null);
  useLayoutEffect(() => field.current?.focus({ preventScroll: true }), []); // the person asked for the field
  const deny = (): void => onDeny(field.current?.value.trim() ?? "");
  return (
    <form
      class="reason-form"
      onSubmit={(event) => {
        event.preventDefault();
        deny();
      }}
      onKeyDown={(event) => {
        if (event.isComposing || event.keyCode === 229) {
          event.stopPropagation();
        } else if (event.key === "Escape") {
          event.stopPropagation();
          onCancel();
        }
      }}
    >
      <input ref={field} class="field" aria-label="Reason, the model reads it" placeholder="Reason, the model reads it" maxLength={4_000} readOnly={off} />
      <button type="submit" class="btn" aria-disabled={off}>{busy ? "Denying…" : "Deny"}</button>
      <button type="button" class="btn quiet" onClick={onCancel}>Cancel</button>
    </form>
  );
}

/** Focus that was inside goes to the card of the call, which takes its place. */
function useHandBack(card: { current: HTMLElement | null }): void {
  useLayoutEffect(() => {
    const entry = card.current?.closest<HTMLElement>(".e");
    const place = card.current ? [...(card.current.parentElement?.children ?? [])].indexOf(card.current) : 0;
    return () => {
      if (card.current?.contains(document.activeElement)) {
        queueMicrotask(() => {
          const cards = entry?.querySelectorAll<HTMLElement>(".tool > header > button");
          (cards?.[place] ?? cards?.[0] ?? entry)?.focus({ preventScroll: true });
        });
      }
    };
  }, []);
}
