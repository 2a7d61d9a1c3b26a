// The address bar: real paths, read and written here only.

import { signal, type ReadonlySignal } from "@preact/signals";
import { parseRoute, routePath, type Route } from "../ui/route.ts";

export interface Router {
  route: ReadonlySignal<Route>;
  go(route: Route, replace?: boolean): void;
}

export function createRouter(window: Window): Router {
  const read = () => parseRoute(window.location.pathname, window.location.search);
  const route = signal(read());
  window.addEventListener("popstate", () => {
    route.value = read();
  });
  return {
    route,
    go(next, replace = false) {
      const path = routePath(next);
      if (path === window.location.pathname + window.location.search) {
        route.value = next;
        return;
      }
      window.history[replace ? "replaceState" : "pushState"](null, "", path);
      route.value = next;
    },
  };
}
