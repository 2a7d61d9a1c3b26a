// What the browser gives: time to work in, storage, and its events.

import type { Connection } from "../wire/socket.ts";
import type { Local } from "../ui/local.ts";
import type { Schedule, Store } from "./store.ts";

/** Tells the page what the browser sees. */
export function listenToBrowser(window: Window, connection: Connection, store: Store, local: Local): void {
  window.addEventListener("online", () => connection.on({ on: "online" }));
  window.addEventListener("offline", () => connection.on({ on: "offline" }));
  window.addEventListener("storage", (e) => local.followed(e.key, isWritten(window.document)));
  window.document.addEventListener("visibilitychange", () => {
    if (window.document.visibilityState === "visible") {
      store.flush();
      connection.on({ on: "visible" });
    }
  });
}

/** Whether somebody writes a message: a box keeps its focus also in a tab that nobody is in. */
function isWritten(document: Document): boolean {
  return document.hasFocus() && document.activeElement?.id === "message";
}

/** Before the next paint. A hidden tab paints nothing: there it is once a second. */
export function schedule(window: Window): Schedule {
  return {
    clock: () => window.performance.now(),
    soon: (work) => {
      const run = () => {
        window.cancelAnimationFrame(frame);
        window.clearTimeout(timer);
        work();
      };
      const frame = window.requestAnimationFrame(run);
      const timer = window.setTimeout(run, 1_000);
    },
  };
}

/** When there is nothing better to do. */
export function idle(window: Window): (work: () => void) => void {
  return (work) => {
    if (typeof window.requestIdleCallback === "function") {
      window.requestIdleCallback(work, { timeout: 2_000 });
    } else {
      window.setTimeout(work, 100);
    }
  };
}

const refuse = (): never => {
  throw new Error("this browser keeps nothing");
};
const nowhere = { getItem: () => null, setItem: refuse, removeItem: refuse, length: 0, key: () => null };

/** The browser's storage, or one that takes nothing. */
export function storageOf(window: Window): ConstructorParameters<typeof Local>[0] {
  try {
    return window.localStorage;
  } catch {
    return nowhere;
  }
}
