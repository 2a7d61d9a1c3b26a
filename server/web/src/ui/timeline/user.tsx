// A person's text: what was said, and what can be done with it.

import { useContext, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { Source } from "../../protocol.gen.ts";
import type { Attempt, TimelineItem } from "../../state/types.ts";
import { tell } from "../dialog.tsx";
import { Reading } from "../fold.ts";
import { clock, instant } from "../format.ts";
import { IconButton } from "../icons.tsx";
import { copy } from "../live.ts";
import { usePage } from "../page.ts";
import { toSession } from "../route.ts";
import { refusal } from "../words.ts";
import { handBackEdits, keptEdit, onTheirWay } from "./edits.ts";
import { Prose } from "./prose.tsx";

type UserItem = Extract<TimelineItem, { is: "user" }>;

export interface TreeProps {
  session: string;
  /** why branching does nothing now; "" = it works */
  locked: string;
}

export function UserText({ item, session, locked }: { item: UserItem } & TreeProps) {
  const page = usePage();
  const id = item.entry?.id ?? "";
  const kept = useMemo(() => id !== "" && keptEdit(page.local, session, id) !== "", [id, page.me.value?.owner]);
  const [editing, setEditing] = useState<boolean | null>(null); // null: as it was left
  const [why, setWhy] = useState("");
  const fork = async (): Promise<void> => {
    const outcome = await page.act.fork(session, id);
    if (outcome.ok) {
      page.go(toSession(outcome.value.id));
    } else {
      setWhy(refusal(outcome));
    }
  };
  if (item.entry && (editing ?? kept)) {
    return <Edit entry={item.entry.id} was={item.text} session={session} asked={editing === true} onEnd={() => setEditing(false)} />;
  }
  const off = id === "" ? "Not in the log yet" : "";
  return (
    <>
      <div class="you-text foreign"><Prose text={item.text} name={item.key} streaming={false} /></div>
      <div class="acts">
        {item.attempt && <Switcher attempt={item.attempt} session={session} locked={locked} />}
        {!item.injected && <IconButton icon="edit" label="Edit and branch" off={off || locked} onClick={() => setEditing(true)} />}
        <IconButton icon="fork" label="Fork from here" off={off} onClick={() => void fork()} />
        <IconButton icon="copy" label="Copy" onClick={() => void copy(item.text)} />
        {item.entry && <time class="num" dateTime={item.entry.created_at} title={instant(item.entry.created_at)}>{clock(item.entry.created_at)}</time>}
        {item.entry && item.entry.source.type !== Source.User && <span class="faint mono foreign">{item.entry.source.type}</span>}
      </div>
      <p class="field-error" role="alert" hidden={why === ""}>{why}</p>
    </>
  );
}

interface EditProps {
  entry: string;
  was: string;
  session: string;
  /** somebody has just asked for it: it takes the focus */
  asked: boolean;
  onEnd: () => void;
}

/** The old attempt stays: this branches before it and runs. */
function Edit({ entry: id, was, session, asked, onEnd }: EditProps) {
  const { act, app, local } = usePage();
  const field = useRef<HTMLTextAreaElement>(null);
  const [text, setText] = useState(() => keptEdit(local, session, id) || was);
  const [why, setWhy] = useState("");
  const [busy, setBusy] = useState(false);
  const key = useRef(crypto.randomUUID());
  const branched = useRef(false);
  const here = useRef(true); // a branch that is heard of takes this field away
  const typed = useRef(""); // in this tab: what another one typed is that one's to hand back
  const { toEnd } = useContext(Reading);
  const end = (): void => {
    typed.current = "";
    local.setEdit(session, id, "");
    onEnd();
  };
  useLayoutEffect(() => {
    const entry = field.current?.closest<HTMLElement>(".e");
    if (asked) {
      field.current?.focus({ preventScroll: true });
    }
    return () => {
      here.current = false;
      const { open } = app.peek();
      if (typed.current !== "" && open?.id === session && open.load === "ready") {
        local.setEdit(session, id, typed.current); // another tab that edits it too may have kept its own, or sent it
        handBackEdits(local, open, [id]); // another tab branched, or the reader scrolled far away
      }
      if (document.activeElement?.closest(".you-edit")) {
        // The field goes; so does the line, once the branch is heard of.
        queueMicrotask(() => (entry?.isConnected ? entry : document.querySelector<HTMLElement>(".main .scroll"))?.focus({ preventScroll: true }));
      }
    };
  }, []);
  const send = async (): Promise<void> => {
    if (busy || text.trim() === "") {
      return;
    }
    setBusy(true);
    setWhy("");
    local.setEdit(session, id, text);
    onTheirWay.add(id);
    const outcome = branched.current ? { ok: true as const } : await act.branch(session, id, true);
    branched.current = outcome.ok;
    const started = outcome.ok ? await act.start(session, text, key.current) : outcome;
    await new Promise((resolve) => setTimeout(resolve)); // a page that goes away leaves it to the next one
    onTheirWay.delete(id);
    setBusy(false);
    if (started.ok) {
      end();
      toEnd();
    } else if (here.current) {
      setWhy(refusal(started));
    } else {
      local.setEdit(session, id, "");
      local.handBack(session, text);
      tell(started.code === "unreachable" ? "Not confirmed. It may have arrived." : refusal(started), null);
    }
  };
  return (
    <div class="you-edit">
      <div class="box">
        <textarea
          ref={field} aria-label="Edit your text" value={text} readOnly={busy}
          onInput={(e) => {
            const now = e.currentTarget.value;
            typed.current = now === was ? "" : now;
            setText(now);
            local.setEdit(session, id, typed.current);
          }}
          onKeyDown={(e) => {
            if (e.key === "Enter" && !e.shiftKey && !e.isComposing && e.keyCode !== 229) {
              e.preventDefault();
              void send();
            } else if (e.key === "Escape") {
              e.stopPropagation();
              end();
            }
          }}
        />
        <div class="tools">
          <span class="grow hint clip">The old attempt stays</span>
          <button type="button" class="btn quiet" onClick={end}>Cancel</button>
          <button type="button" class="btn primary" aria-disabled={busy || text.trim() === ""} onClick={() => void send()}>
            {busy ? "Sending…" : "Send as a new attempt"}
          </button>
        </div>
      </div>
      <p class="field-error" role="alert" hidden={why === ""}>{why}</p>
    </div>
  );
}

/** "2 / 3": moves to the newest end of that attempt. */
export function Switcher({ attempt, session, locked }: { attempt: Attempt } & TreeProps) {
  const { act } = usePage();
  const [why, setWhy] = useState("");
  const n = attempt.ids.length;
  const to = async (index: number): Promise<void> => {
    const id = attempt.ids[index];
    if (id !== undefined) {
      const outcome = await act.showAttempt(session, id);
      setWhy(outcome.ok ? "" : refusal(outcome));
    }
  };
  const first = attempt.index === 0 ? "This is the first" : "";
  const last = attempt.index === n - 1 ? "This is the newest" : "";
  return (
    <span class="attempt">
      <IconButton icon="left" label="Previous attempt" off={locked || first} onClick={() => void to(attempt.index - 1)} />
      <span class="num"><span class="sr">Attempt </span>{attempt.index + 1} / {n}</span>
      <IconButton icon="right" label="Next attempt" off={locked || last} onClick={() => void to(attempt.index + 1)} />
      {why !== "" && <span class="bad" role="alert">{why}</span>}
    </span>
  );
}
