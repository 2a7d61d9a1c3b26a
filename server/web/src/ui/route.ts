// Addresses: real paths, so that the fragment is free for the sign-in link.

/** A panel of a session. null = none; log: at that position, −1 = at its end */
export type PanelRoute = { is: "log"; seq: number } | { is: "settings" } | null;

/** Which screen is shown, as the address says it. */
export type Route =
  | { at: "home" }
  | {
      at: "session";
      session: string;
      /** to be scrolled to and marked; "" = none */
      entry: string;
      panel: PanelRoute;
    }
  | { at: "unknown"; path: string };

/** A session without anything else. */
export function toSession(session: string): Route {
  return { at: "session", session, entry: "", panel: null };
}

/** What a button for a panel leads to, where another one or this one is open. */
export function toggled(panel: PanelRoute, is: "log" | "settings"): PanelRoute {
  return panel?.is === is ? null : is === "log" ? { is, seq: -1 } : { is };
}

/** Reads an address: path is percent-encoded, query with or without its "?". */
export function parseRoute(path: string, query: string): Route {
  if (path === "/") {
    return { at: "home" };
  }
  const found = /^\/s\/([^/]+)\/?$/.exec(path);
  const session = decoded(found?.[1] ?? "");
  if (session === "") {
    return { at: "unknown", path };
  }
  const asked = new URLSearchParams(query);
  const log = asked.get("log");
  let panel: PanelRoute = null;
  if (log !== null) {
    panel = { is: "log", seq: /^\d{1,15}$/.test(log) ? Number(log) : -1 };
  } else if (asked.has("settings")) {
    panel = { is: "settings" };
  }
  return { at: "session", session, entry: asked.get("e") ?? "", panel };
}

/** The address of a route. */
export function routePath(route: Route): string {
  if (route.at === "home") {
    return "/";
  }
  if (route.at === "unknown") {
    return route.path;
  }
  const query = new URLSearchParams();
  if (route.entry !== "") {
    query.set("e", route.entry);
  }
  if (route.panel?.is === "log") {
    query.set("log", route.panel.seq < 0 ? "" : String(route.panel.seq));
  } else if (route.panel?.is === "settings") {
    query.set("settings", "");
  }
  const text = query.toString().replace(/=(?=&|$)/g, "");
  return `/s/${encodeURIComponent(route.session)}${text === "" ? "" : "?" + text}`;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return "";
  }
}
