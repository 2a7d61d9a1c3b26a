// The first run: nothing is here yet, and this is how it begins.

import { useSignal } from "@preact/signals";
import { useRef } from "preact/hooks";
import { send as sendText } from "./composer/sending.ts";
import { Brandmark, Icon, IconButton } from "./icons.tsx";
import { copy } from "./live.ts";
import { usePage } from "./page.ts";
import { toSession } from "./route.ts";
import { connected, refusal } from "./words.ts";

const prompts: readonly { text: string; shows: string }[] = [
  { text: "run go version", shows: "Bash asks you first" },
  { text: "both read go.mod and list *.go", shows: "two calls in parallel" },
  { text: "plan a small refactoring", shows: "a task list while it works" },
  { text: "think 400", shows: "a long stream: reload, stop, steer it" },
];

const command = 'hitchpost send main "list *.go" --wait';

export function FirstRun() {
  const page = usePage();
  const { act, go, local, connection } = page;
  const box = useRef<HTMLTextAreaElement>(null);
  const text = local.draft("");
  const busy = useSignal(false);
  const why = useSignal("");
  const off = busy.value || text.trim() === "" || !connected(connection.value);
  const set = (now: string): void => {
    why.value = "";
    local.setDraft("", now);
  };
  const send = async (): Promise<void> => {
    if (off) {
      return;
    }
    busy.value = true;
    const outcome = await begin();
    busy.value = false;
    why.value = outcome;
  };
  /** Makes the session, and hands the text on to its box; "" or why not. */
  const begin = async (): Promise<string> => {
    const created = await act.create();
    if (!created.ok) {
      return refusal(created);
    }
    const session = created.value.id;
    set("");
    local.setDraft(session, text);
    sendText(page, session, text, { to: "start" });
    go(toSession(session));
    return "";
  };
  return (
    <div class="center">
      <Brandmark />
      <h2>Start an agent, then walk away.</h2>
      <p>It keeps working when you close this page. Everything it does is in one log you can read, replay and copy.</p>
      <div class="try">
        {prompts.map((prompt) => (
          <button
            type="button"
            onClick={() => {
              set(prompt.text);
              box.current?.focus();
            }}
          >
            <code>{prompt.text}</code>
            <small>{prompt.shows}</small>
          </button>
        ))}
      </div>
      <div class="box">
        <textarea
          ref={box} id="message" aria-label="Message" placeholder="Message a new session" rows={1} value={text} readOnly={busy.value}
          onInput={(e) => set(e.currentTarget.value)}
          onKeyDown={(e) => {
            if (e.key === "Enter" && !e.shiftKey && !e.isComposing && e.keyCode !== 229) {
              e.preventDefault();
              void send();
            }
          }}
        />
        <div class="tools">
          <span class="chip">default</span>
          <span class="grow hint">{busy.value ? "Sending…" : ""}</span>
          <button type="button" class={`btn square${off ? "" : " primary"}`} aria-label="Send" aria-disabled={off} onClick={() => void send()}><Icon name="send" /></button>
        </div>
      </div>
      <p class="field-error" role="alert" hidden={why.value === ""}>{why.value}</p>
      <p class="fine">
        demo/guide is an offline stand-in with a small grammar, not a language model. Add a provider in <code>hitchpost.toml</code>; the running
        server picks it up.
      </p>
      <p class="fine">Or from a shell:</p>
      <div class="code">
        <code class="grow clip">{command}</code>
        <IconButton icon="copy" label="Copy command" small onClick={() => void copy(command)} />
      </div>
    </div>
  );
}
