// The session that the address names is read while the page's script is still on its way.

import { base, messagesPath, pageSize, reading, sessionPath } from "../wire/paths.ts";
import { tokenKey } from "./token.ts";

declare global {
  /** answers by path; each is taken once */
  var early: Map<string, Promise<Response>> | undefined;
}

/** Begins to read, where this tab has a token. A sign-in link is for the page to take out of the address first. */
export function readEarly({ location, sessionStorage }: Window): void {
  const session = /^\/s\/([^/]+)\/?$/.exec(location.pathname)?.[1];
  const token = sessionStorage.getItem(tokenKey);
  if (session === undefined || token === null || location.hash !== "") {
    return;
  }
  const id = decodeURIComponent(session);
  globalThis.early = new Map([sessionPath(id), messagesPath(id, pageSize, "")].map((path) => {
    const answer = fetch(base + path, reading(token));
    answer.catch(() => undefined); // whoever takes it hears of it
    return [base + path, answer];
  }));
}

/** A fetch that takes what was read early. */
export function fetchOr(fetch: typeof window.fetch): typeof window.fetch {
  return (path, init) => {
    const answer = globalThis.early?.get(String(path));
    globalThis.early?.delete(String(path));
    return answer ?? fetch(path, init);
  };
}
