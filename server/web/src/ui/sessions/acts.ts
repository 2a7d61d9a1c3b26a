// What can be done to a session from a menu.

import type { SessionRow } from "../../state/types.ts";
import { ask, tell } from "../dialog.tsx";
import { copy } from "../live.ts";
import type { Page } from "../page.ts";
import { routePath, toSession } from "../route.ts";
import { refusal, titleOf } from "../words.ts";

export function askRename({ act }: Page, row: SessionRow): void {
  ask({
    title: "Rename the session",
    field: { label: "Title", value: row.title },
    act: "Rename",
    keep: "Cancel",
    then: async (title) => {
      const outcome = await act.rename(row.id, title.trim());
      return outcome.ok ? "" : refusal(outcome);
    },
  });
}

export function askDelete({ act, app, go, route, local }: Page, row: SessionRow): void {
  ask({
    title: `Delete “${titleOf(row)}”?`,
    text: "Its log is gone for good.",
    act: "Delete",
    keep: "Keep",
    bad: true,
    then: async () => {
      const outcome = await act.remove(row.id);
      if (!outcome.ok) {
        return refusal(outcome);
      }
      local.forget(row.id);
      whenGone(app, row.id, () => {
        if (route.value.at === "session" && route.value.session === row.id) {
          go({ at: "home" }, true);
        }
      });
      return "";
    },
  });
}

/** Once the wire has said it: before, "/" could lead to it again. */
function whenGone(app: Page["app"], session: string, then: () => void): void {
  const stop = app.subscribe((state) => {
    if (!state.rows.has(session)) {
      queueMicrotask(() => {
        stop();
        then();
      });
    }
  });
}

export async function pin({ act }: Page, row: SessionRow): Promise<void> {
  const outcome = await act.pin(row.id, !row.pinned);
  if (!outcome.ok) {
    tell(refusal(outcome), null);
  }
}

export function copyLink(row: SessionRow): void {
  void copy(location.origin + routePath(toSession(row.id)));
}
