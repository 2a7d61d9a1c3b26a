// The page of the browser: socket, REST and state put together.

import { computed, effect, signal } from "@preact/signals";
import type { Entry } from "../protocol.gen.ts";
import { timelineSelector } from "../state/timeline.ts";
import type { AppState, Outcome } from "../state/types.ts";
import { ProseEngine } from "../text/prose.ts";
import { copy } from "../ui/live.ts";
import { Local } from "../ui/local.ts";
import type { Page } from "../ui/page.ts";
import { ms } from "../wire/machine.ts";
import { Rest } from "../wire/rest.ts";
import { Connection, type Listener } from "../wire/socket.ts";
import { actions } from "./actions.ts";
import { Reader } from "./reader.ts";
import { createRouter } from "./router.ts";
import { Store } from "./store.ts";
import { TokenKeeper } from "./token.ts";

/** Frames that make no sense, within a minute, before the stream is begun anew. */
const garbledLimit = 3;

/** Makes the page and connects it, once it has a token. */
export function createPage(window: Window & typeof globalThis): Page {
  const keeper = new TokenKeeper(window);
  keeper.takeLink(window);
  let trying = ""; // a token that is being tried, before it is kept
  const rest = new Rest({
    fetch: (...args) => window.fetch(...args),
    token: () => trying || keeper.token,
    now: Date.now,
    heard: (status) => trying === "" && connection.on({ on: "rest", status }),
  });
  const store = new Store(schedule(window), (state, wants) => {
    reader.take(wants);
    follow(state);
  });
  const listener = listen();
  const connection = new Connection({
    now: Date.now,
    random: Math.random,
    online: () => window.navigator.onLine,
    dial: () => new window.WebSocket(`${window.location.protocol === "https:" ? "wss" : "ws"}://${window.location.host}/ws`),
    token: () => keeper.token,
  }, listener);
  const isUp = () => connection.state.phase === "live" || connection.state.phase === "catching_up";
  const reader = new Reader(store, rest, (frame) => connection.send(frame), isUp, (session) => local.readMark(session));
  const shown = signal(connection.state);
  const local = new Local(storageOf(window));
  const router = createRouter(window);
  const garbled = { seen: 0, at: [] as number[] };

  function listen(): Listener {
    return {
      frame: (text) => store.push({ is: "frame", text }),
      changed: (state) => (shown.value = state),
      connected: () => store.push({ is: "connected" }),
      disconnected: () => store.push({ is: "disconnected" }),
      probe: () => void probe(),
      askWhy: () => void rest.approvals(), // the answer's status is heard
      forgetToken: () => {
        keeper.token = "";
        store.apply({ is: "signed_out" });
      },
      note: (what) => console.error(what),
    };
  }

  /** Tells the connection what the state has come to. */
  function follow(state: AppState): void {
    const { phase } = connection.state;
    if (state.caughtUp && phase === "catching_up") {
      connection.on({ on: "caught_up" });
    } else if (!state.caughtUp && phase === "live") {
      connection.on({ on: "fell_behind" });
    }
    if (state.me) {
      local.setOwner(state.me.owner);
    }
    if (state.malformedFrames > garbled.seen) {
      const now = Date.now();
      garbled.at = [...garbled.at, now].filter((at) => now - at < 60_000);
      garbled.seen = state.malformedFrames;
      if (garbled.at.length >= garbledLimit) {
        garbled.at = [];
        connection.on({ on: "garbled" });
      }
    }
  }

  /** Reads what the socket should have told by now, and waits whether it has. */
  async function probe(): Promise<void> {
    const id = store.now.open?.load === "ready" ? store.now.open.id : "";
    const limit = new Promise<null>((resolve) => setTimeout(() => resolve(null), ms.probe));
    const newest = await Promise.race([limit, id === "" ? anything() : newestEntry(id)]);
    if (newest === null) {
      connection.on({ on: "probe_failed" });
      return;
    }
    const has = () => {
      store.flush();
      return newest === "" || store.now.open?.id !== id || store.now.open.entries.has(newest);
    };
    if (!has()) {
      await new Promise((resolve) => setTimeout(resolve, ms.lag));
    }
    connection.on({ on: has() ? "probe_ok" : "probe_failed" });
  }

  /** Id of a session's newest entry, "" when it has none, null without an answer. An entry always makes a frame; other events of the log may not. */
  async function newestEntry(session: string): Promise<string | null> {
    const got = await rest.messages(session, 1, "");
    return got.ok ? ((got.value.entries[0] as Entry | undefined)?.id ?? "") : null;
  }

  async function anything(): Promise<string | null> {
    return (await rest.approvals()).ok ? "" : null;
  }

  async function signIn(token: string): Promise<Outcome> {
    trying = token.trim();
    const got = await rest.sessions();
    trying = "";
    if (!got.ok) {
      return got;
    }
    keeper.token = token.trim();
    connection.on({ on: "token" });
    return { ok: true, value: undefined };
  }

  const select = timelineSelector();
  const timeline = computed(() => (store.state.value.open?.load === "ready" ? select(store.state.value) : null));
  const now = signal(Date.now());
  window.setInterval(() => {
    connection.on({ on: "tick" });
    if (window.document.visibilityState === "visible") {
      now.value = Date.now() + rest.clockOffset;
    }
  }, 1_000);
  listenToBrowser(window, connection, store, local);
  effect(() => {
    const at = router.route.value;
    const open = at.at === "session" ? at.session : "";
    if (open !== (store.now.open?.id ?? "")) {
      store.apply(open === "" ? { is: "close" } : { is: "open", session: open });
    }
  });
  void keeper.ask().then((token) => {
    if (token !== "") {
      keeper.token = token;
      connection.on({ on: "token" });
    }
  });
  return {
    app: store.state, connection: shown, timeline, now, route: router.route, go: router.go, local,
    prose: new ProseEngine({ window, idle: idle(window), copy: (text) => void copy(text) }),
    act: actions({
      store, rest, reader, window, signIn,
      signOut: () => {
        local.clear();
        connection.on({ on: "sign_out" });
      },
      retry: () => connection.on({ on: "retry_now" }),
    }),
  };
}

function listenToBrowser(window: Window, connection: Connection, store: Store, local: Local): void {
  window.addEventListener("online", () => connection.on({ on: "online" }));
  window.addEventListener("offline", () => connection.on({ on: "offline" }));
  window.addEventListener("storage", (e) => local.followed(e.key));
  window.document.addEventListener("visibilitychange", () => {
    if (window.document.visibilityState === "visible") {
      store.flush();
      connection.on({ on: "visible" });
    }
  });
}

/** Before the next paint. A hidden tab paints nothing: there it is once a second. */
function schedule(window: Window) {
  return {
    clock: () => window.performance.now(),
    soon: (work: () => void) => {
      const run = () => {
        window.cancelAnimationFrame(frame);
        window.clearTimeout(timer);
        work();
      };
      const frame = window.requestAnimationFrame(run);
      const timer = window.setTimeout(run, 1_000);
    },
  };
}

function idle(window: Window): (work: () => void) => void {
  return (work) => {
    if (typeof window.requestIdleCallback === "function") {
      window.requestIdleCallback(work, { timeout: 2_000 });
    } else {
      window.setTimeout(work, 100);
    }
  };
}

const nowhere = { getItem: () => null, setItem: () => undefined, removeItem: () => undefined, length: 0, key: () => null };

function storageOf(window: Window): ConstructorParameters<typeof Local>[0] {
  try {
    return window.localStorage;
  } catch {
    return nowhere; // a browser that keeps nothing
  }
}
