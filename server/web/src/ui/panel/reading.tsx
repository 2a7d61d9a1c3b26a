// What a part of the settings reads when it opens.

import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { Outcome } from "../../state/types.ts";
import { refusal } from "../words.ts";

/** Reads once for a key, and again when asked to. */
export function useReading<T>(read: () => Promise<Outcome<T>>, key: string): { value: T | null; problem: string; again: () => void } {
  const state = useSignal<{ value: T | null; problem: string }>({ value: null, problem: "" });
  const again = async (): Promise<void> => {
    const outcome = await read();
    state.value = outcome.ok ? { value: outcome.value, problem: "" } : { value: null, problem: refusal(outcome) };
  };
  useEffect(() => void again(), [key]);
  return { ...state.value, again: () => void again() };
}

export function Unread({ problem, again }: { problem: string; again: () => void }) {
  return problem === "" ? null : <p class="field-error">{problem} <button type="button" class="btn small" onClick={again}>Try again</button></p>;
}
