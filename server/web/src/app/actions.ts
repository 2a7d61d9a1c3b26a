// What a person can do: each goes over REST, for it answers. Nothing changes on the page
// before the wire says so.

import { type Entry, Mode, Source } from "../protocol.gen.ts";
import { newestBelow } from "../state/path.ts";
import type { Outcome } from "../state/types.ts";
import { textOf } from "../state/item.ts";
import { pageSize } from "../wire/paths.ts";
import type { Rest, Usage } from "../wire/rest.ts";
import type { Actions, Hit, UsageLine } from "../ui/page.ts";
import { downloads } from "./download.ts";
import type { Reader } from "./reader.ts";
import type { Store } from "./store.ts";

export interface Around {
  store: Store;
  rest: Rest;
  reader: Reader;
  window: Window & typeof globalThis;
  signIn(token: string): Promise<Outcome>;
  signOut(): void;
  retry(): void;
}

const fine = { ok: true, value: undefined } as const;

export function actions({ store, rest, reader, window, signIn, signOut, retry }: Around): Actions {
  const title = (session: string) => store.now.rows.get(session)?.title || session;
  return {
    signIn, signOut, retry,
    reload: () => reader.take([{ want: "list" }, { want: "approvals" }]),
    reloadSession: () => {
      const { open } = store.now;
      if (open) {
        reader.take([{ want: "page", session: open.id }, { want: "inbox", session: open.id }]);
      }
    },
    search: async (query): Promise<Outcome<readonly Hit[]>> => rest.search(query),

    create: () => rest.create({}, window.crypto.randomUUID()),
    rename: (session, name) => drop(rest.patch(session, { title: name })),
    pin: (session, pinned) => drop(rest.patch(session, { pinned })),
    remove: (session) => rest.remove(session),
    fork: (session, entry) => rest.fork(session, entry, false),
    compact: (session) => rest.compact(session),

    start: (session, text, key) => rest.start(session, text, key),
    queue: (run, queue, text) => rest.inject(run, queue, text),
    arrived: (session, text, since) => arrived(rest, session, text, since),
    takeBack: (session, input) => rest.withdraw(session, input),
    stop: (run, graceful) => rest.cancel(run, graceful ? Mode.Graceful : Mode.Abort),
    approve: (call) => rest.approve(call.run_id, call.tool_call_id),
    deny: (call, reason) => rest.reject(call.run_id, call.tool_call_id, reason),
    replace: (session, text) => drop(rest.start(session, text, window.crypto.randomUUID())),
    branch: (session, entry, exclusive) => drop(rest.branch(session, entry, exclusive)),
    showAttempt: (session, entry) => {
      const { open } = store.now;
      const leaf = open?.id === session ? newestBelow(entry, open.entries) : entry;
      return drop(rest.branch(session, leaf, false));
    },

    loadEarlier: () => {
      const { open } = store.now;
      if (open) {
        void reader.earlier(open.id);
      }
    },
    find: (entry) => find(store, reader, entry),
    retryHole: (run) => store.apply({ is: "retry_hole", run }),

    log: async (session, from, limit) => {
      if (from >= 0) {
        return rest.events(session, from, limit);
      }
      const row = await rest.session(session);
      return row.ok ? rest.events(session, Math.max(0, row.value.last_seq - limit + 1), limit) : row;
    },
    policy: async (session) => map(await rest.policy(session), ({ patterns }) => patterns),
    setPolicy: (session, patterns) => rest.savePolicy(session, patterns),
    models: (session) => rest.models(session),
    setModels: (session, models) => rest.saveModels(session, models),
    usage: async (session) => map(await rest.usage(session), usageLines),
    download: (session, what) => downloads(rest, window)(session, title(session), what),
  };
}

/** One line of sums; none where no provider told any: zeros would say that nothing was used. */
export function usageLines(u: Usage): UsageLine[] {
  const told = u.input_tokens > 0 || u.output_tokens > 0;
  return told ? [{ model: "", input_tokens: u.input_tokens, output_tokens: u.output_tokens, cost: u.cost > 0 ? u.cost : null }] : [];
}

function map<T, U>(outcome: Outcome<T>, change: (value: T) => U): Outcome<U> {
  return outcome.ok ? { ok: true, value: change(outcome.value) } : outcome;
}

async function drop(outcome: Promise<Outcome<unknown>>): Promise<Outcome> {
  const got = await outcome;
  return got.ok ? fine : got;
}

/** Whether a text waits, or stands in the log, that was sent at or after an instant of the server's clock. */
async function arrived(rest: Rest, session: string, text: string, since: string): Promise<Outcome<boolean>> {
  // The inbox first: what is read from it meanwhile then stands in the log.
  const inbox = await rest.inbox(session);
  if (!inbox.ok) {
    return inbox;
  }
  // Both clocks are off by a second at most.
  const from = Date.parse(since) - 2_000;
  if (inbox.value.some((i) => i.text === text && Date.parse(i.queued_at) >= from)) {
    return { ok: true, value: true };
  }
  const page = await rest.messages(session, pageSize, "");
  return map(page, ({ entries }) => (entries as readonly Entry[])
    .some((e) => e.source.type === Source.User && Date.parse(e.created_at) >= from && textOf((e.payload as { content?: unknown }).content).text === text));
}

/** Reads older pages until an entry is there; false when the log has begun without it. */
async function find(store: Store, reader: Reader, entry: string): Promise<boolean> {
  const session = store.now.open?.id;
  for (;;) {
    store.flush();
    const { open } = store.now;
    if (!open || open.id !== session || open.entries.has(entry)) {
      return open?.id === session && open?.entries.has(entry) === true;
    }
    if (open.earlier === "start" || open.earlier === "failed" || open.load !== "ready") {
      return false;
    }
    if (open.earlier === "loading") {
      await new Promise((resolve) => setTimeout(resolve, 50));
      continue;
    }
    await reader.earlier(open.id);
  }
}
