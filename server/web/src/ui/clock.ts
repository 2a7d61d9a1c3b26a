// The local clock, for what is counted here: the time to the next try.

import { type ReadonlySignal, signal } from "@preact/signals";
import { useEffect } from "preact/hooks";

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
