// Unread: something worth a person's look came since the session was last seen here.

import type { SessionRow } from "../../state/types.ts";
import type { Local } from "../local.ts";

/** A session never opened here counts from what it had when it was first listed. */
export function isUnread(row: SessionRow, local: Local): boolean {
  const mark = local.readMark(row.id);
  return mark >= 0 && row.newsSeq > mark;
}
