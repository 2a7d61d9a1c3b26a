// Folds: as the log has it by default, as the reader left it otherwise. Nothing folds
// under a pointer, a focus, a selection, or a reader who is not at the end.

import { createContext } from "preact";
import { useContext, useRef } from "preact/hooks";
import type { RefObject } from "preact";
import { usePage } from "./page.ts";

/** Where the reader is in the timeline. */
export interface ReadingPlace {
  session: string;
  /** at its end */
  pinned: () => boolean;
  /** shows the end: what sending does */
  toEnd: () => void;
}

export const Reading = createContext<ReadingPlace>({ session: "", pinned: () => true, toEnd: () => {} });

interface Fold {
  open: boolean;
  toggle: () => void;
}

/** key names the fold within the session; host is the folding thing. */
export function useFold(key: string, byDefault: boolean, host: RefObject<HTMLElement | null>): Fold {
  const { local } = usePage();
  const { session, pinned } = useContext(Reading);
  const chosen = local.fold(session, key);
  const wanted = chosen ?? byDefault;
  const shown = useRef(wanted);
  if (wanted || chosen === false || !shown.current || mayFold(host.current, pinned)) {
    shown.current = wanted;
  }
  const open = shown.current;
  return { open, toggle: () => local.setFold(session, key, !open) };
}

/** Whether all of a long thing is shown, and how to say so. key names the thing within the session. */
export function useAll(key: string): [boolean, (all: boolean) => void] {
  const { local } = usePage();
  const { session } = useContext(Reading);
  const name = `${key} all`;
  return [local.fold(session, name) ?? false, (all) => local.setFold(session, name, all)];
}

function mayFold(host: HTMLElement | null, pinned: () => boolean): boolean {
  if (!host) {
    return true;
  }
  const selection = host.ownerDocument.getSelection();
  const selected = selection !== null && !selection.isCollapsed && selection.containsNode(host, true);
  return pinned() && !selected && !host.matches(":hover, :focus-within");
}
