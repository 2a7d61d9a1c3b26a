// Dialogs: the browser's own, modal, closed by Escape. At most one is open.

import { signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef } from "preact/hooks";

interface Question {
  title: string;
  text?: string;
  act: string;
  keep: string;
  bad?: boolean;
  /** a line of text to fill in */
  field?: { label: string; value: string };
  /** what to do with it; refused words stay below the field */
  then: (value: string) => Promise<string>;
}

interface Shown {
  id: number;
  question?: Question;
  content?: { title: string; body: ComponentChildren };
}

const shown = signal<Shown | null>(null);
let counter = 0;

/** Asks; then() returns "" when it is done, else why not. */
export function ask(question: Question): void {
  shown.value = { id: ++counter, question };
}

/** Shows something to be read and closed. */
export function tell(title: string, body: ComponentChildren): void {
  shown.value = { id: ++counter, content: { title, body } };
}

/** Where dialogs stand. */
export function Dialogs() {
  const now = shown.value;
  return now && <Dialog key={now.id} {...now} />;
}

const problem = signal("");
const busy = signal(false);

function Dialog({ question, content }: Shown) {
  const dialog = useRef<HTMLDialogElement>(null);
  const field = useRef<HTMLInputElement>(null);
  const id = useId();
  useEffect(() => {
    problem.value = "";
    busy.value = false;
    const before = document.activeElement;
    dialog.current?.showModal();
    field.current?.select();
    return () => before instanceof HTMLElement && before.isConnected && before.focus();
  }, []);
  const close = (): void => dialog.current?.close();
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    if (!question || busy.value) {
      return;
    }
    busy.value = true;
    problem.value = await question.then(field.current?.value ?? "");
    busy.value = false;
    if (problem.value === "") {
      close();
    }
  };
  return (
    <dialog ref={dialog} aria-labelledby={id} onClose={() => (shown.value = null)} onKeyDown={(e) => e.stopPropagation()}>
      <form onSubmit={(e) => void submit(e)}>
        <h2 id={id}>{question?.title ?? content?.title}</h2>
        {question?.text && <p>{question.text}</p>}
        {question?.field && (
          <input
            ref={field} class="field" aria-label={question.field.label} defaultValue={question.field.value}
            aria-invalid={problem.value !== ""} aria-describedby={`${id}-why`}
          />
        )}
        {content?.body}
        <p id={`${id}-why`} class="field-error" role="alert" hidden={problem.value === ""}>{problem.value}</p>
        <div class="do">
          {question ? (
            <>
              <button type="button" class="btn" onClick={close}>{question.keep}</button>
              <button type="submit" class={`btn ${question.bad ? "danger" : "primary"}`} aria-disabled={busy.value}>{question.act}</button>
            </>
          ) : (
            <button type="button" class="btn" onClick={close}>Close</button>
          )}
        </div>
      </form>
    </dialog>
  );
}
