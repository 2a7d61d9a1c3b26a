// Whether a connection that looks alive is: what REST reads now, the socket must have told.

import type { Entry } from "../protocol.gen.ts";
import { ms } from "../wire/machine.ts";
import type { Rest } from "../wire/rest.ts";
import type { AppState } from "../state/types.ts";
import type { Store } from "./store.ts";

/** Reads what the socket should have told by now, and waits whether it has; false = it is dead. */
export async function probe(store: Store, rest: Rest): Promise<boolean> {
  const id = store.now.open?.load === "ready" ? store.now.open.id : "";
  const limit = new Promise<null>((resolve) => setTimeout(() => resolve(null), ms.probe));
  const newest = await Promise.race([limit, id === "" ? anything(rest) : newestEntry(rest, id)]);
  if (newest === null) {
    return false;
  }
  const has = () => {
    store.flush();
    return newest === "" || store.now.open?.id !== id || store.now.open.entries.has(newest);
  };
  if (!has()) {
    await new Promise((resolve) => setTimeout(resolve, ms.lag));
  }
  return has();
}

/**
 * Id of a session's newest entry, "" when it has none, null without an answer. An entry always
 * makes a frame; the log's newest event may not.
 */
async function newestEntry(rest: Rest, session: string): Promise<string | null> {
  const got = await rest.messages(session, 1, "");
  return got.ok ? ((got.value.entries[0] as Entry | undefined)?.id ?? "") : null;
}

async function anything(rest: Rest): Promise<string | null> {
  return (await rest.approvals()).ok ? "" : null;
}

/** Frames that make no sense, within a minute, before the stream is begun anew. */
const garbledLimit = 3;

/** Counts frames that make no sense. */
export class Garbled {
  #seen = 0;
  #at: number[] = [];

  /** Whether there have been too many of them by now: local epoch ms. */
  tooMany(state: AppState, now: number): boolean {
    if (state.malformedFrames <= this.#seen) {
      return false;
    }
    const added = Array<number>(state.malformedFrames - this.#seen).fill(now);
    this.#seen = state.malformedFrames;
    this.#at = [...this.#at, ...added].filter((at) => now - at < 60_000);
    if (this.#at.length < garbledLimit) {
      return false;
    }
    this.#at = [];
    return true;
  }
}
