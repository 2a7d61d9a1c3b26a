// The page of the browser: socket, REST and state put together.

import { computed, effect, signal, type Signal } from "@preact/signals";
import { timelineSelector } from "../state/timeline.ts";
import type { AppState, ConnectionState, Outcome } from "../state/types.ts";
import { ProseEngine } from "../text/prose.ts";
import { copy } from "../ui/live.ts";
import { Local } from "../ui/local.ts";
import { partsOf, type Page } from "../ui/page.ts";
import { Rest } from "../wire/rest.ts";
import { Connection, type Listener } from "../wire/socket.ts";
import { actions } from "./actions.ts";
import { fetchOr } from "./early.ts";
import { Garbled, probe } from "./probe.ts";
import { Reader } from "./reader.ts";
import { createRouter } from "./router.ts";
import { Store } from "./store.ts";
import { idle, listenToBrowser, schedule, storageOf } from "./surroundings.ts";
import { TokenKeeper } from "./token.ts";

/** Makes the page and connects it, once it has a token. */
export function createPage(window: Window & typeof globalThis): Page {
  const client = new Client(window);
  const { store, rest, local } = client;
  const router = createRouter(window);
  const select = timelineSelector();
  const timeline = computed(() => (store.state.value.open?.load === "ready" ? select(store.state.value) : null));
  const now = signal(Date.now());
  window.setInterval(() => {
    client.connection.on({ on: "tick" });
    if (window.document.visibilityState === "visible") {
      now.value = Date.now() + rest.clockOffset;
    }
  }, 1_000);
  listenToBrowser(window, client.connection, store, local);
  effect(() => {
    const at = router.route.value;
    const signedIn = client.shown.value.phase !== "signed_out"; // a tab may yet get its token from another
    const open = signedIn && at.at === "session" ? at.session : "";
    if (open !== (store.now.open?.id ?? "")) {
      store.apply(open === "" ? { is: "close" } : { is: "open", session: open });
    }
  });
  void client.begin();
  return {
    app: store.state, ...partsOf(store.state), connection: client.shown, timeline, now, route: router.route, go: router.go, showPanel: router.showPanel, local,
    prose: new ProseEngine({ window, idle: idle(window), copy: (text) => void copy(text) }),
    act: actions({
      store, rest, reader: client.reader, window,
      signIn: (token) => client.signIn(token),
      signOut: () => client.signOut(),
      retry: () => client.connection.on({ on: "retry_now" }),
    }),
  };
}

/** The two wires and the state between them. */
class Client {
  readonly store: Store;
  readonly rest: Rest;
  readonly reader: Reader;
  readonly connection: Connection;
  readonly shown: Signal<ConnectionState>;
  readonly local: Local;
  readonly #keeper: TokenKeeper;
  readonly #garbled = new Garbled();
  /** a token that is being tried, before it is kept */
  #trying = "";

  constructor(window: Window & typeof globalThis) {
    this.#keeper = new TokenKeeper(window, () => this.connection.on({ on: "sign_out" }));
    this.#keeper.takeLink(window);
    this.local = new Local(storageOf(window));
    this.rest = new Rest({
      fetch: fetchOr((...args) => window.fetch(...args)),
      token: () => this.#trying || this.#keeper.token,
      now: Date.now,
      heard: (status) => this.#trying === "" && this.connection.on({ on: "rest", status }),
    });
    this.store = new Store(schedule(window), (state, wants) => {
      this.reader.take(wants);
      this.#follow(state);
    });
    const scheme = window.location.protocol === "https:" ? "wss" : "ws";
    this.connection = new Connection({
      now: Date.now,
      random: Math.random,
      online: () => window.navigator.onLine,
      dial: () => new window.WebSocket(`${scheme}://${window.location.host}/ws`),
      token: () => this.#keeper.token,
    }, this.#listener());
    this.shown = signal(this.connection.state);
    const isUp = () => this.shown.peek().phase === "live" || this.shown.peek().phase === "catching_up";
    this.reader = new Reader(this.store, this.rest, (frame) => this.connection.send(frame), isUp, (session) => this.local.readMark(session));
  }

  /** Connects with the token of this tab, or with that of another one. */
  async begin(): Promise<void> {
    const token = await this.#keeper.ask();
    if (token !== "") {
      this.#keeper.token = token;
      this.connection.on({ on: "token" });
    }
  }

  async signIn(token: string): Promise<Outcome> {
    this.#trying = token.trim();
    const got = await this.rest.sessions();
    this.#trying = "";
    if (!got.ok) {
      return got;
    }
    this.#keeper.token = token.trim();
    this.connection.on({ on: "token" });
    return { ok: true, value: undefined };
  }

  signOut(): void {
    this.#keeper.forgetEverywhere();
    this.local.clear();
    this.connection.on({ on: "sign_out" });
  }

  #listener(): Listener {
    return {
      frame: (text) => this.store.push({ is: "frame", text }),
      changed: (state) => (this.shown.value = state),
      connected: () => this.store.push({ is: "connected" }),
      disconnected: () => this.store.push({ is: "disconnected" }),
      probe: () => void probe(this.store, this.rest).then((ok) => this.connection.on({ on: ok ? "probe_ok" : "probe_failed" })),
      askWhy: () => void this.rest.approvals(), // the answer's status is heard
      forgetToken: () => {
        this.#keeper.token = "";
        this.store.apply({ is: "signed_out" });
      },
      note: (what) => console.error(what),
    };
  }

  /** Tells the connection what the state has come to. */
  #follow(state: AppState): void {
    const { phase } = this.connection.state;
    if (state.caughtUp && phase === "catching_up") {
      this.connection.on({ on: "caught_up" });
    } else if (!state.caughtUp && phase === "live") {
      this.connection.on({ on: "fell_behind" });
    }
    if (state.me) {
      this.local.setOwner(state.me.owner);
    }
    if (this.#garbled.tooMany(state, Date.now())) {
      this.connection.on({ on: "garbled" });
    }
  }
}
