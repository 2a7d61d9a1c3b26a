// Texts that are edited anew. Each is kept with its entry until it is sent or given up; one
// whose entry is not shown any more goes into the box, where it is seen.

import { useComputed } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { textOf } from "../../state/item.ts";
import { activePath } from "../../state/path.ts";
import type { SessionState } from "../../state/types.ts";
import type { Local } from "../local.ts";
import { usePage } from "../page.ts";

/** Entries whose edit is on its way from this page: what becomes of it is told by the answer. */
export const onTheirWay = new Set<string>();

/** The text that stands in the edit of an entry; "" = none is open. */
export function keptEdit(local: Local, session: string, entry: string): string {
  return onTheirWay.has(entry) ? "" : local.edit(session, entry);
}

/** Takes the edits of those of the entries that are not on the path any more. What the log has was sent. */
export function handBackEdits(local: Local, open: SessionState, of: readonly string[]): void {
  const path = of.length > 0 ? activePath(open) : [];
  for (const id of of) {
    const entry = open.entries.get(id);
    const gone = entry ? !path.includes(entry) : open.earlier === "start";
    const text = keptEdit(local, open.id, id);
    if (gone && text !== "") {
      local.setEdit(open.id, id, "");
      const sent = [...open.entries.values()].some((e) => e.parent_id === entry?.parent_id && textOf((e.payload as { content?: unknown }).content).text === text);
      if (!sent) {
        local.handBack(open.id, text);
      }
    }
  }
}

/** Looks at what was edited when the session was open last, as far back as its entries are here. */
export function useKeptEdits(session: string): void {
  const { app, local, me } = usePage();
  const from = useComputed(() => (app.value.open?.id === session && app.value.open.leaf !== null ? app.value.open.oldest : null)).value;
  useEffect(() => {
    const { open } = app.peek();
    if (from !== null && open) {
      handBackEdits(local, open, local.edits(session));
    }
  }, [session, from, me.value?.owner]);
}
