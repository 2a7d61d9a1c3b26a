// Signing in: one token, kept by open tabs only.

import { useSignal } from "@preact/signals";
import { useEffect, useId } from "preact/hooks";
import { Brandmark } from "./icons.tsx";
import { usePage } from "./page.ts";
import { connectionReason, refusal } from "./words.ts";

const siblings = 250; // ms in which another tab may hand its token on: no form until then

export function SignIn() {
  const { act, connection } = usePage();
  const token = useSignal("");
  const refused = useSignal<string | null>(null);
  const busy = useSignal(false);
  const id = useId();
  const asked = useSignal(false);
  useEffect(() => {
    const timer = setTimeout(() => (asked.value = true), siblings);
    return () => clearTimeout(timer);
  }, []);
  const why = refused.value ?? connectionReason(connection.value);

  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    const text = token.value.trim();
    if (text === "" || busy.value) {
      return;
    }
    busy.value = true;
    const outcome = await act.signIn(text);
    busy.value = false;
    if (outcome.ok) {
      refused.value = null;
    } else {
      refused.value = outcome.status === 401 || outcome.code === "signed_out" ? "This token is not known to the server." : refusal(outcome);
    }
  };
  if (!asked.value && why === "") {
    return <main class="main" id="main" />;
  }
  return (
    <main class="main" id="main">
      <form class="center narrow" onSubmit={(e) => void submit(e)}>
        <Brandmark />
        <h2>Sign in to Hitchpost</h2>
        <p>
          Paste a token. <code>hitchpost serve</code> prints a link that signs you in; <code>hitchpost token new</code> makes another.
        </p>
        <label>
          <span class="sr">Token</span>
          <input
            class="field mono" type="password" autocomplete="off" spellcheck={false} value={token.value}
            aria-invalid={why !== ""} aria-describedby={`${id}-why`}
            onInput={(e) => (token.value = e.currentTarget.value)}
          />
        </label>
        <p id={`${id}-why`} class="field-error" role="alert" hidden={why === ""}>{why}</p>
        <button class="btn primary" type="submit" aria-disabled={busy.value}>{busy.value ? "Signing in…" : "Sign in"}</button>
        <p class="finer">Kept by open tabs only, forgotten when they close.</p>
      </form>
    </main>
  );
}
