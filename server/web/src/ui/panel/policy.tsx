// The allow list of a session, with a tester.

import { useSignal } from "@preact/signals";
import { useEffect, useId } from "preact/hooks";
import { usePage } from "../page.ts";
import { allowedBy } from "../../text/fnmatch.ts";
import { refusal } from "../words.ts";
import { patternsOf, wrongPatterns } from "./patterns.ts";
import { Unread, useReading } from "./reading.tsx";

export function Policy({ session }: { session: string }) {
  const { act, me } = usePage();
  const { value, problem, again } = useReading(() => act.policy(session), session);
  const text = useSignal("");
  const name = useSignal("");
  const said = useSignal("");
  const id = useId();
  useEffect(() => {
    if (value) {
      text.value = value.join("\n");
    }
  }, [value]);
  const patterns = patternsOf(text.value);
  const wrong = wrongPatterns(patterns);
  const changed = value !== null && patterns.join("\n") !== value.join("\n");
  const readOnly = me.value?.allow.includes("admin") === false;
  const off = wrong !== "" || !changed || readOnly;
  const save = async (): Promise<void> => {
    if (off) {
      return;
    }
    const outcome = await act.setPolicy(session, patterns);
    said.value = outcome.ok ? "In force from the next call." : refusal(outcome);
    if (outcome.ok) {
      again();
    }
  };
  const by = allowedBy(patterns, name.value);
  return (
    <section>
      <h2>Policy</h2>
      <Unread problem={problem} again={again} />
      <label for={`${id}-list`}>Tools that may be called, one pattern a line</label>
      <textarea
        id={`${id}-list`} class="field" spellcheck={false} value={text.value} readOnly={readOnly || value === null}
        aria-invalid={wrong !== ""} aria-describedby={`${id}-why`}
        onInput={(e) => {
          text.value = e.currentTarget.value;
          said.value = "";
        }}
      />
      <p id={`${id}-why`} class="field-error" role="alert" hidden={wrong === ""}>{wrong}</p>
      <label for={`${id}-name`}>Tool name</label>
      <input id={`${id}-name`} class="field mono" spellcheck={false} value={name.value} onInput={(e) => (name.value = e.currentTarget.value)} />
      {name.value !== "" && (
        <p class="muted" role="status">{by === null ? "Not on the list: the call is refused" : <>Allowed by <code>{by}</code></>}</p>
      )}
      <div class="do">
        <button type="button" class="btn" aria-disabled={off} onClick={() => void save()}>Save</button>
        <span class="muted" role="status">{said.value}</span>
      </div>
    </section>
  );
}
