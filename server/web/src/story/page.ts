// A page of fixed data: it reads like the real one, and what a person does is refused or
// answered without a server.

import { type Signal, signal } from "@preact/signals";
import type { AppState, ConnectionState, Outcome, SessionRow, SessionState, StandingCall, Timeline, TimelineItem } from "../state/types.ts";
import { initialSession } from "../state/draft.ts";
import { Local } from "../ui/local.ts";
import { type Actions, type Page, partsOf, type ProseEngine } from "../ui/page.ts";
import { type Route, toSession } from "../ui/route.ts";
import { inbox, log, now, others, row, run, session, title } from "./data.ts";

export interface Scene {
  items?: readonly TimelineItem[];
  status?: SessionRow["status"];
  standing?: readonly StandingCall[];
  connection?: Partial<ConnectionState>;
  inbox?: boolean;
  live?: boolean;
  earlier?: Timeline["earlier"];
  route?: Route;
  rows?: readonly SessionRow[];
  allow?: readonly string[];
  load?: SessionState["load"];
  /** the session that it was copied from */
  forked?: string;
}

const ok = <T,>(value: T): Promise<Outcome<T>> => Promise.resolve({ ok: true, value });
const refused = (code: string, message: string): Promise<{ ok: false; code: string; status: number; message: string }> =>
  Promise.resolve({ ok: false, code, status: 400, message });

class Memory {
  readonly #kept = new Map<string, string>();
  getItem = (key: string): string | null => this.#kept.get(key) ?? null;
  setItem = (key: string, value: string): void => void this.#kept.set(key, value);
  removeItem = (key: string): void => void this.#kept.delete(key);
  key = (n: number): string | null => [...this.#kept.keys()][n] ?? null;
  get length(): number {
    return this.#kept.size;
  }
}

/** What a test of the page's rules may look at and change. */
export interface Stage {
  /** what was done, in order: name and arguments */
  done: unknown[][];
  /** the answer to what is done next; without one it is never answered */
  answer: Record<string, Outcome<unknown>>;
  app: Signal<AppState>;
  connection: Signal<ConnectionState>;
  timeline: Signal<Timeline | null>;
}

export function storyPage(scene: Scene, prose: ProseEngine): { page: Page; stage: Stage } {
  const local = new Local(new Memory());
  const own = row(session, title, {
    status: scene.status ?? "idle", pinned: scene.status !== "requires_action",
    pending_count: scene.standing?.length ?? 0,
    pending: (scene.standing ?? []).map((call) => ({ tool_call_id: call.tool_call_id, tool_name: call.tool_name, run_id: call.run_id })),
    last_input_at: new Date(now - 20_000).toISOString(),
    ...(scene.live ? { live_run_id: run } : {}),
    ...(scene.forked ? { forked_from: scene.forked } : {}),
  });
  const rows = scene.rows ?? [own, ...others];
  rows.forEach((r) => local.setReadMark(r.id, r.id === session ? 9_999 : 15));
  const state: AppState = {
    tick: 1, me: { owner: "owner", allow: scene.allow ?? ["watch", "inject", "approve", "admin"], logId: "log" }, caughtUp: true, list: "ready",
    connectedAt: 1, listReadAt: 1, approvalsReadAt: 1,
    rows: new Map(rows.map((r) => [r.id, r])), runs: new Map(),
    standing: new Map([[session, { seq: 1, at: 1, calls: scene.standing ?? [] }]]),
    open: opened(scene), wants: [], unknownFrames: 0, malformedFrames: 0, faults: 0,
  };
  const route = signal<Route>(scene.route ?? toSession(session));
  const stage: Stage = {
    done: [], answer: {},
    app: signal(state),
    connection: signal({ phase: "live", reason: "", downSince: 0, retryAt: 0, ...scene.connection }),
    timeline: signal<Timeline | null>({ items: scene.items ?? [], earlier: scene.earlier ?? "start", liveRun: scene.live ? run : "" }),
  };
  const { app, connection, timeline } = stage;
  const page: Page = {
    app, ...partsOf(app), connection, timeline, now: signal(now), route, go: (to) => (route.value = to),
    showPanel: (panel) => (route.value = { at: "session", session, entry: "", panel }), local, prose, act: watched(acts(), stage),
  };
  return { page, stage };
}

/** Writes down what is done, and answers as the stage says. */
function watched(all: Actions, stage: Stage): Actions {
  return new Proxy(all, {
    get: (target, name: keyof Actions) => (...args: unknown[]) => {
      stage.done.push([name, ...args]);
      const answer = stage.answer[name];
      return answer ? Promise.resolve(answer) : (target[name] as (...args: unknown[]) => unknown)(...args);
    },
  });
}

function opened(scene: Scene): SessionState {
  const entries = (scene.items ?? []).flatMap((item) => (item.entry ? [item.entry] : []));
  return {
    ...initialSession(session, 1), load: scene.load ?? "ready", leaf: entries.at(-1)?.id ?? "", entries: new Map(entries.map((e) => [e.id, e])),
    earlier: scene.earlier ?? "start", inbox: scene.inbox ? inbox : [], inboxLoad: "ready",
  };
}

function acts(): Actions {
  const nothing = (): void => {};
  const no = () => refused("conflict", "this is the story page: nothing happens here");
  return {
    signIn: () => refused("signed_out", ""), signOut: nothing, retry: nothing, reload: nothing, reloadSession: nothing,
    search: (query) => ok([{ session_id: "wal", entry_id: "e1", snippet: `… the page holds ${query} while the checkpoint runs …` }]),
    create: no, rename: no, pin: no, remove: no, fork: no, compact: no, start: () => new Promise(() => {}), queue: () => new Promise(() => {}), arrived: () => ok(false), takeBack: no, stop: () => new Promise(() => {}),
    approve: () => new Promise(() => {}), deny: () => new Promise(() => {}), replace: no, branch: no, showAttempt: no,
    loadEarlier: nothing, find: () => Promise.resolve(false), retryHole: nothing,
    log: (_, from) => ok(from > 0 ? log.filter((event) => event.seq >= from) : log),
    policy: () => ok(["Read", "Bash", "mcp__files__*"]), setPolicy: no,
    models: () => ok({ main: "openrouter/qwen3-coder", title: "demo/guide" }), setModels: no,
    usage: () => ok([{ model: "openrouter/qwen3-coder", input_tokens: 18_432, output_tokens: 2_104, cost: 0.031 }]),
    download: no,
  };
}
