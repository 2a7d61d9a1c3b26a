// The local clock, for what is counted here: the time to the next try, and patience.

import { type ReadonlySignal, signal } from "@preact/signals";
import { useEffect, useRef, useState } from "preact/hooks";
import { usePage } from "./page.ts";
import { connectionWord } from "./words.ts";

const now = signal(Date.now());
let users = 0;
let timer: ReturnType<typeof setInterval> | undefined;

/** Local epoch ms, ticking once a second while somebody looks. */
export function useLocalNow(): ReadonlySignal<number> {
  useEffect(() => {
    if (users++ === 0) {
      now.value = Date.now();
      timer = setInterval(() => (now.value = Date.now()), 1_000);
    }
    return () => {
      if (--users === 0) {
        clearInterval(timer);
      }
    };
  }, []);
  return now;
}

/** Whether what began at a local instant (ms; 0 = it is not) has gone on for longer than after, ms. */
export function useLate(since: number, after: number): boolean {
  const [late, setLate] = useState(false);
  useEffect(() => {
    setLate(false);
    const timer = since > 0 ? setTimeout(() => setLate(true), since + after - Date.now()) : undefined;
    return () => clearTimeout(timer);
  }, [since, after]);
  return late;
}

const shortTry = 300; // ms; a try that is over by then is not worth a word

/** The word for the connection as it is now. */
export function useConnectionWord(): string {
  const { connection } = usePage();
  const now = useLocalNow();
  const trying = connection.value.phase === "connecting";
  const since = useRef(0);
  since.current = trying ? since.current || Date.now() : 0;
  const late = useLate(since.current, shortTry);
  return trying && !late ? "" : connectionWord(connection.value, now.value);
}
