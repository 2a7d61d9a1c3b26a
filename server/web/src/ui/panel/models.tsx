// The models of a session: role → provider/model.

import { useSignal } from "@preact/signals";
import { useEffect, useId } from "preact/hooks";
import { usePage } from "../page.ts";
import { refusal } from "../words.ts";
import { Unread, useReading } from "./reading.tsx";

export function Models({ session }: { session: string }) {
  const { act, me } = usePage();
  const { value, problem, again } = useReading(() => act.models(session), session);
  const edited = useSignal<Readonly<Record<string, string>>>({});
  const said = useSignal("");
  const id = useId();
  useEffect(() => {
    edited.value = value ?? {};
  }, [value]);
  const changed = Object.fromEntries(Object.entries(edited.value).filter(([role, model]) => value?.[role] !== model));
  const readOnly = me.value?.allow.includes("admin") === false;
  const off = Object.keys(changed).length === 0 || readOnly;
  const save = async (): Promise<void> => {
    if (off) {
      return;
    }
    const outcome = await act.setModels(session, changed);
    said.value = outcome.ok ? "In force from the next step." : refusal(outcome);
    if (outcome.ok) {
      again();
    }
  };
  return (
    <section>
      <h2>Models</h2>
      <Unread problem={problem} again={again} />
      {Object.entries(edited.value).map(([role, model]) => (
        <>
          <label for={`${id}-${role}`}>{role}</label>
          <input
            id={`${id}-${role}`} class="field mono" spellcheck={false} value={model} placeholder="provider/model" readOnly={readOnly}
            onInput={(e) => {
              edited.value = { ...edited.value, [role]: e.currentTarget.value };
              said.value = "";
            }}
          />
        </>
      ))}
      {value && Object.keys(value).length === 0 && <p class="muted">The agent's definition names its models.</p>}
      <div class="do">
        <button type="button" class="btn" aria-disabled={off} onClick={() => void save()}>Save</button>
        <span class="muted" role="status">{said.value}</span>
      </div>
    </section>
  );
}
