// The address bar: real paths, read and written here only.

import { signal, type ReadonlySignal } from "@preact/signals";
import { type PanelRoute, parseRoute, routePath, type Route } from "../ui/route.ts";
import { isPhone } from "../ui/screen.ts";

export interface Router {
  route: ReadonlySignal<Route>;
  go(route: Route, replace?: boolean): void;
  showPanel(panel: PanelRoute): void;
}

/** State of a step that opened a panel: one step back stands its conversation. */
const opened = "panel";

export function createRouter(window: Window): Router {
  const { history, location } = window;
  const read = () => parseRoute(location.pathname, location.search);
  const route = signal(read());
  const write = (next: Route, replace: boolean, state: unknown): void => {
    const path = routePath(next);
    if (path !== location.pathname + location.search) {
      history[replace ? "replaceState" : "pushState"](state, "", path);
    }
    route.value = next;
  };
  /** what takes the place of the step that is being gone back to */
  let instead: Route | null = null;
  window.addEventListener("popstate", () => {
    const next = instead;
    instead = null;
    if (next) {
      write(next, true, null);
    } else {
      route.value = read();
    }
  });
  return {
    route,
    go(next, replace = false) {
      if (replace && history.state === opened) {
        instead = next; // the conversation under the panel goes with it
        history.back();
      } else {
        write(next, replace, null);
      }
    },
    showPanel(panel) {
      const at = route.value;
      if (at.at !== "session") {
        return;
      }
      const closed = { ...at, entry: "", panel: null };
      if (panel === null && history.state === opened) {
        route.value = closed; // now: a second tap has nothing left to close
        history.back();
      } else if (panel !== null && at.panel === null && isPhone()) {
        write(closed, true, null); // without its entry: to come back scrolls nowhere
        write({ ...closed, panel }, false, opened);
      } else {
        write({ ...closed, panel }, true, panel && history.state);
      }
    },
  };
}
