// What the components are given: state to read, and what a person can do. The app makes
// the real one from the wire, the story page one of fixed data.

import { createContext } from "preact";
import { useContext } from "preact/hooks";
import { computed, type ReadonlySignal } from "@preact/signals";
import type { LogEvent, Queue } from "../protocol.gen.ts";
import type { AppState, ConnectionState, Outcome, Session, StandingCall, Timeline } from "../state/types.ts";
import type { Local } from "./local.ts";
import type { PanelRoute, Route } from "./route.ts";

export interface Page extends Parts {
  /** changes with every chunk: who draws reads a part of it, where one is enough */
  app: ReadonlySignal<AppState>;
  connection: ReadonlySignal<ConnectionState>;
  /** of the open session; null until its newest page is there */
  timeline: ReadonlySignal<Timeline | null>;
  /** the server's clock, epoch ms; ticks once a second while the page is visible */
  now: ReadonlySignal<number>;
  route: ReadonlySignal<Route>;
  /** changes the address; replace leaves no step to go back to */
  go(route: Route, replace?: boolean): void;
  /** opens a panel of the session, or closes it. On a phone it is a screen, and a step that the browser's Back takes */
  showPanel(panel: PanelRoute): void;
  local: Local;
  prose: ProseEngine;
  act: Actions;
}

/** Parts of the state that no chunk of a stream changes: who reads one is drawn again only when it changes. */
export interface Parts {
  me: ReadonlySignal<AppState["me"]>;
  rows: ReadonlySignal<AppState["rows"]>;
  list: ReadonlySignal<AppState["list"]>;
  standing: ReadonlySignal<AppState["standing"]>;
}

export function partsOf(app: ReadonlySignal<AppState>): Parts {
  return {
    me: computed(() => app.value.me),
    rows: computed(() => app.value.rows),
    list: computed(() => app.value.list),
    standing: computed(() => app.value.standing),
  };
}

/** Draws Markdown into a host of ours and keeps it up to date. */
export interface ProseEngine {
  attach(host: HTMLElement): ProseView;
}

export interface ProseView {
  /** text is all of it so far; streaming: more may come */
  update(text: string, streaming: boolean): void;
  /** the host leaves the page */
  end(): void;
}

/** A hit in the texts of a session. */
export interface Hit {
  session_id: string;
  /** "" = the title */
  entry_id: string;
  /** plain text around it */
  snippet: string;
}

/** What a session has used, by model. */
export interface UsageLine {
  model: string;
  input_tokens: number | null;
  output_tokens: number | null;
  /** dollars; null = not reported */
  cost: number | null;
}

/**
 * Everything a person can do. Each answers when the server has answered; nothing on the
 * page changes before the wire says so.
 */
export interface Actions {
  signIn(token: string): Promise<Outcome>;
  signOut(): void;
  /** tries to connect now */
  retry(): void;
  /** reads the list again */
  reload(): void;
  /** reads the open session's newest page again */
  reloadSession(): void;
  search(query: string): Promise<Outcome<readonly Hit[]>>;

  create(): Promise<Outcome<Session>>;
  rename(session: string, title: string): Promise<Outcome>;
  pin(session: string, pinned: boolean): Promise<Outcome>;
  remove(session: string): Promise<Outcome>;
  /** entry "" = all of it */
  fork(session: string, entry: string): Promise<Outcome<Session>>;
  compact(session: string): Promise<Outcome<{ compacted: boolean; tokens_before?: number; tokens_after?: number }>>;

  /** starts a run; text "" answers the history as it stands. key: the same for a repeated try */
  start(session: string, text: string, key: string): Promise<Outcome<{ run_id: string }>>;
  /** puts a text into the inbox of an open run */
  queue(run: string, queue: Queue, text: string): Promise<Outcome>;
  /** reads inbox and log: whether a text that was not confirmed is there after all */
  arrived(session: string, text: string, since: string): Promise<Outcome<boolean>>;
  takeBack(session: string, input: string): Promise<Outcome>;
  stop(run: string, graceful: boolean): Promise<Outcome>;
  approve(call: StandingCall): Promise<Outcome>;
  deny(call: StandingCall, reason: string): Promise<Outcome>;
  /** denies the standing calls and starts a new run with the text */
  replace(session: string, text: string): Promise<Outcome>;
  /** exclusive: to the entry's parent */
  branch(session: string, entry: string, exclusive: boolean): Promise<Outcome>;
  /** branches to the newest leaf of that attempt */
  showAttempt(session: string, entry: string): Promise<Outcome>;

  loadEarlier(): void;
  /** reads pages until the entry is there; false: it is not in this session */
  find(entry: string): Promise<boolean>;
  retryHole(run: string): void;

  /** events of the raw log from a position on, or the newest when from is −1 */
  log(session: string, from: number, limit: number): Promise<Outcome<readonly LogEvent[]>>;
  policy(session: string): Promise<Outcome<readonly string[]>>;
  setPolicy(session: string, patterns: readonly string[]): Promise<Outcome>;
  models(session: string): Promise<Outcome<Readonly<Record<string, string>>>>;
  setModels(session: string, models: Readonly<Record<string, string>>): Promise<Outcome>;
  usage(session: string): Promise<Outcome<readonly UsageLine[]>>;
  /** hands the file to the browser */
  download(session: string, what: "log" | "conversation"): Promise<Outcome>;
}

const context = createContext<Page | null>(null);

export const PageProvider = context.Provider;

/** The page around this component. */
export function usePage(): Page {
  const page = useContext(context);
  if (!page) {
    throw new Error("a component stands outside the page");
  }
  return page;
}

export type { Route } from "./route.ts";
