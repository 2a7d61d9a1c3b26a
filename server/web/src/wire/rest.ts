// The REST side of the wire. Everything that a person does goes over it, because it answers.

import { RESTCode, type Approval, type Entry, type InboxItem, type LogEvent, type Mode, type Queue, type RESTError, type Run, type Session } from "../protocol.gen.ts";
import type { Outcome } from "../state/types.ts";
import { base, enc, messagesPath, reading, sessionPath } from "./paths.ts";

export interface Page {
  entries: readonly unknown[];
  logSeq: number;
}

export interface SearchHit {
  session_id: string;
  /** "" = the title */
  entry_id: string;
  seq: number;
  snippet: string;
}

/** What the providers told of a session's answers. */
export interface Usage {
  answers: number;
  input_tokens: number;
  output_tokens: number;
  cost: number;
  /** every answer told its tokens */
  complete: boolean;
}

export interface StartedRun {
  run_id: string;
  session_id: string;
  status: string;
}

export interface RestOptions {
  fetch: typeof fetch;
  token(): string;
  now(): number;
  /** status of every answer, 0 for none: the connection machine reads it */
  heard(status: number): void;
}

interface Call {
  method?: string;
  body?: unknown;
  headers?: Record<string, string>;
  /** ms; a call without an answer until then is given up */
  timeout?: number;
  signal?: AbortSignal;
}

export class Rest {
  readonly #o: RestOptions;
  /** server's clock − ours in ms, from the Date of the last answer */
  clockOffset = 0;

  constructor(o: RestOptions) {
    this.#o = o;
  }

  sessions = () => this.#json<Session[]>("/sessions");
  session = (id: string) => this.#json<Session>(sessionPath(id));
  approvals = () => this.#json<Approval[]>("/approvals");
  inbox = (id: string) => this.#json<InboxItem[]>(`/sessions/${enc(id)}/inbox`);
  run = (id: string) => this.#json<Run>(`/runs/${enc(id)}`);
  policy = (id: string) => this.#json<{ patterns: string[] }>(`/sessions/${enc(id)}/policy`);
  models = (id: string) => this.#json<Record<string, string>>(`/sessions/${enc(id)}/models`);
  usage = (id: string) => this.#json<Usage>(`/sessions/${enc(id)}/usage`);
  search = (q: string, signal?: AbortSignal) => this.#json<SearchHit[]>(`/search?q=${enc(q)}`, signal ? { signal } : {});

  create = (s: { id?: string; title?: string; agent?: string }, key: string) =>
    this.#json<Session>("/sessions", { method: "POST", body: s, headers: keyed(key) });
  patch = (id: string, change: { title?: string; pinned?: boolean }) =>
    this.#json<Session>(`/sessions/${enc(id)}`, { method: "PATCH", body: change });
  remove = (id: string) => this.#none(`/sessions/${enc(id)}`, { method: "DELETE" });
  start = (id: string, input: string, key: string) =>
    this.#json<StartedRun>(`/sessions/${enc(id)}/runs`, { method: "POST", body: { input }, headers: keyed(key) });
  inject = (run: string, queue: Queue, input: string) =>
    this.#none(`/runs/${enc(run)}/inject`, { method: "POST", body: { queue, input } });
  withdraw = (id: string, input: string) => this.#none(`/sessions/${enc(id)}/inbox/${enc(input)}`, { method: "DELETE" });
  cancel = (run: string, mode: Mode) => this.#none(`/runs/${enc(run)}/cancel?mode=${enc(mode)}`, { method: "POST" });
  approve = (run: string, call: string) =>
    this.#none(`/approvals/${enc(call)}/approve`, { method: "POST", body: { run_id: run } });
  reject = (run: string, call: string, reason: string) =>
    this.#none(`/approvals/${enc(call)}/reject`, { method: "POST", body: reason === "" ? { run_id: run } : { run_id: run, reason } });
  branch = (id: string, entry: string, exclusive: boolean) =>
    this.#json<{ leaf: string; previous_leaf: string }>(`/sessions/${enc(id)}/branch`, { method: "POST", body: { entry_id: entry, exclusive } });
  fork = (id: string, entry: string, exclusive: boolean) =>
    this.#json<Session>(`/sessions/${enc(id)}/fork`, { method: "POST", body: entry === "" ? {} : { message_id: entry, exclusive } });
  compact = (id: string) =>
    this.#json<{ compacted: boolean; tokens_before?: number; tokens_after?: number }>(`/sessions/${enc(id)}/compact`, { method: "POST", timeout: 600_000 });
  savePolicy = (id: string, patterns: readonly string[]) =>
    this.#none(`/sessions/${enc(id)}/policy`, { method: "PUT", body: { patterns } });
  saveModels = (id: string, models: Readonly<Record<string, string>>) =>
    this.#none(`/sessions/${enc(id)}/models`, { method: "PUT", body: models });

  /** The newest entries, oldest first, or those before one. limit 0: all of them. */
  async messages(id: string, limit: number, before: string): Promise<Outcome<Page>> {
    return this.#ask(messagesPath(id, limit, before), {}, async (answer) => ({
      entries: list<Entry>(await answer.json()), logSeq: Number(answer.headers.get("X-Log-Seq") ?? 0),
    }));
  }

  events(id: string, from: number, limit: number): Promise<Outcome<LogEvent[]>> {
    return this.#ask(`/sessions/${enc(id)}/events?from_seq=${from}&limit=${limit}`, {}, async (answer) => list<LogEvent>(await answer.json()));
  }

  /**
   * The frames of a run with from < seq < next, read from its log: that stream has no gaps.
   * Frames that belong to the one with the number come with it.
   */
  frames(run: string, from: number, next: number, signal: AbortSignal): Promise<Outcome<string[]>> {
    const call: Call = { headers: { Accept: "text/event-stream" }, timeout: 0, signal };
    return this.#ask(`/runs/${enc(run)}/events?from_seq=${from}`, call, async (answer) => {
      const frames: string[] = [];
      for await (const { id, data } of sse(answer.body as ReadableStream<Uint8Array>)) {
        if (id >= next) {
          return frames;
        }
        frames.push(data);
      }
      throw new TypeError("the stream ended before the hole did");
    });
  }

  #json<T>(path: string, call: Call = {}): Promise<Outcome<T>> {
    return this.#ask(path, call, (answer) => answer.json() as Promise<T>);
  }

  #none(path: string, call: Call): Promise<Outcome> {
    return this.#ask(path, call, async (answer) => {
      await answer.body?.cancel();
      return undefined;
    });
  }

  async #ask<T>(path: string, call: Call, read: (answer: Response) => Promise<T>): Promise<Outcome<T>> {
    const limit = new AbortController();
    const timer = call.timeout === 0 ? undefined : setTimeout(() => limit.abort(), call.timeout ?? 30_000);
    const stop = () => limit.abort();
    call.signal?.addEventListener("abort", stop);
    let status = 0;
    try {
      const answer = await this.#o.fetch(base + path, this.#request(call, limit.signal));
      status = answer.status;
      this.#setClock(answer);
      this.#o.heard(status);
      if (!answer.ok) {
        return await refusal(answer);
      }
      return { ok: true, value: await read(answer) };
    } catch {
      if (status === 0 && !call.signal?.aborted) {
        this.#o.heard(0);
      }
      return { ok: false, code: "unreachable", status, message: "" };
    } finally {
      clearTimeout(timer);
      call.signal?.removeEventListener("abort", stop);
      limit.abort(); // a body that was not read to its end is let go
    }
  }

  #request({ method = "GET", body, headers = {} }: Call, signal: AbortSignal): RequestInit {
    const json: Record<string, string> = body === undefined ? {} : { "Content-Type": "application/json" };
    const read = reading(this.#o.token());
    return {
      ...read, method, signal,
      headers: { ...read.headers, ...json, ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    };
  }

  #setClock(answer: Response): void {
    const date = Date.parse(answer.headers.get("Date") ?? "");
    if (!Number.isNaN(date)) {
      // Date has whole seconds: the middle of the second is off by half of one at most, and a
      // clock that is right within that stays as it is, so that no duration jumps.
      const offset = date + 500 - this.#o.now();
      this.clockOffset = Math.abs(offset - this.clockOffset) > 1_000 ? offset : this.clockOffset;
    }
  }
}

async function refusal(answer: Response): Promise<Outcome<never>> {
  let problem: Partial<RESTError["error"]> = {};
  try {
    problem = ((await answer.json()) as Partial<RESTError> | null)?.error ?? {};
  } catch {
    // a proxy answered in its own words: the status says enough
  }
  const code = problem.code ?? (answer.status === 401 ? RESTCode.Unauthorized : RESTCode.Internal);
  return { ok: false, code, status: answer.status, message: problem.message ?? "" };
}

function keyed(key: string): Record<string, string> {
  return key === "" ? {} : { "Idempotency-Key": key };
}

function list<T>(value: unknown): T[] {
  if (!Array.isArray(value)) {
    throw new TypeError("no list");
  }
  return value as T[];
}

/** Events of a server-sent stream: the number and the data of each; -1 where it has no number of its own. */
async function* sse(body: ReadableStream<Uint8Array>): AsyncGenerator<{ id: number; data: string }> {
  const reader = body.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>).getReader();
  let rest = "";
  let id = -1;
  let data: string[] = [];
  try {
    for (;;) {
      const { done, value } = await reader.read();
      const lines = (rest + (value ?? "")).split("\n");
      rest = lines.pop() ?? "";
      for (const raw of lines) {
        const line = raw.endsWith("\r") ? raw.slice(0, -1) : raw;
        if (line === "" && data.length > 0) {
          yield { id, data: data.join("\n") };
          id = -1;
          data = [];
        } else if (line.startsWith("id:")) {
          id = Number(line.slice(3));
        } else if (line.startsWith("data:")) {
          data.push(line.slice(5).replace(/^ /, ""));
        }
      }
      if (done) {
        return;
      }
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}
