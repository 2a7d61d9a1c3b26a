// On a phone each column is a screen of its own: which one is shown. Local, and no part of
// the address.

import { signal } from "@preact/signals";

type Screen = "list" | "main" | "panel";

/** Set while sessions are stepped through by keys: the composer must not take the focus then. */
export const stepping = { now: false };

export const phoneScreen = signal<Screen>("main");

/** The width of the style sheet. */
export function isPhone(): boolean {
  return matchMedia("(max-width: 760px)").matches;
}
