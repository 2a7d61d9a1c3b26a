// What the components ask of the state in more than one place.

import type { AppState, StandingCall } from "../state/types.ts";

/** The standing calls of a session, in order of asking. */
export function standingOf(app: AppState, session: string): readonly StandingCall[] {
  return app.standing.get(session)?.calls ?? [];
}

/** How many calls wait for a person, in all sessions. */
export function standingCount(app: AppState): number {
  let n = 0;
  for (const row of app.rows.values()) {
    n += row.pending_count;
  }
  return n;
}

/** The log position up to which the page shows a session; −1 = nothing of it. */
export function shownUpTo(app: AppState, session: string): number {
  let upTo = -1;
  if (app.open?.id === session) {
    for (const entry of app.open.entries.values()) {
      upTo = Math.max(upTo, entry.seq);
    }
  }
  for (const run of app.runs.values()) {
    if (run.session === session && run.cursor > 0) {
      upTo = Math.max(upTo, run.cursor);
    }
  }
  return upTo;
}
