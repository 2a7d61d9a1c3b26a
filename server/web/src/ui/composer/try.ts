// A try to send a text. While nobody knows whether it arrived it is kept beside the draft,
// so that a page which is loaded anew tries the same again, and starts nothing twice.

import type { Queue } from "../../protocol.gen.ts";
import type { Local } from "../local.ts";

/** Where a text goes. */
export type Target = { to: "start" } | { to: "queue"; run: string; queue: Queue };

export interface Try {
  text: string;
  target: Target;
  /** the same for a repeated try, so that it starts one run */
  key: string;
  /** server instant before it, and log position: what is newer may be this text */
  since: string;
  seq: number;
  tried: boolean;
}

/** To be called before it leaves; null: what became of it is known. */
export function keepTry(local: Local, session: string, t: Try | null): void {
  local.setOnItsWay(session, t === null ? "" : JSON.stringify(t));
}

/** The try of the text that the draft still holds; null = there is none. */
export function keptTry(local: Local, session: string): Try | null {
  let kept: Try | null;
  try {
    kept = JSON.parse(local.onItsWay(session)) as Try | null;
  } catch {
    return null;
  }
  const whole = typeof kept?.key === "string" && typeof kept.text === "string" && typeof kept.target === "object";
  return whole && kept?.text === local.draft(session) ? kept : null;
}
