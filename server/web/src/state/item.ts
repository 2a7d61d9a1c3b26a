// One entry → one item of the timeline. The payload alone decides what it is; display is a
// hint on top. What this version does not know becomes an item that says so.

import {
  DisplayKind, Field, ItemType, Kind, parseEntry, Role,
  type Display, type Entry, type FunctionCall, type FunctionCallOutput,
} from "../protocol.gen.ts";
import type { Call, StandingCall, TimelineItem } from "./types.ts";

type Base = { key: string; run: string; seq: number; entry: Entry | null; compacted: boolean };

/** The item of an entry; null = it draws nothing (an answer without text, an output). */
export function itemOf(entry: Entry, compacted: boolean): TimelineItem | null {
  const base: Base = { key: entry.id, run: entry.run_id, seq: entry.seq, entry, compacted };
  const parsed = parseEntry(entry);
  if (parsed.is !== "known") {
    return unknownItem(base, entry);
  }
  const { kind, payload } = parsed.entry;
  switch (kind) {
    case Kind.Item:
      switch (payload.type) {
        case ItemType.Message:
          return messageItem(base, entry, payload);
        case ItemType.Reasoning: {
          const text = textOf(payload.summary).text;
          return text === "" ? null : { ...base, is: "reasoning", text, streaming: false };
        }
        case ItemType.FunctionCall:
          return null; // callItem: it needs its output
        case ItemType.FunctionCallOutput:
          return null;
      }
      return unknownItem(base, entry);
    case Kind.Compaction:
      return { ...base, is: "compaction", summary: payload.summary, upto: payload.upto_seq };
    case Kind.Annotation:
      if ("partial" in payload) {
        return { ...base, is: "partial", field: payload.field ?? Field.Text, text: payload.text };
      }
      if ("code" in payload) {
        return { ...base, is: "failure", code: payload.code, message: payload.message };
      }
      return { ...base, is: "cancelled", reason: payload.reason, message: payload.message ?? "" };
  }
}

function unknownItem(base: Base, entry: Entry): TimelineItem {
  const type = (entry.payload as { type?: unknown }).type;
  const kind = entry.kind === Kind.Item && typeof type === "string" ? type : entry.kind;
  return { ...base, is: "unknown", kind, payload: entry.payload };
}

function messageItem(base: Base, entry: Entry, payload: { role: string; content: readonly unknown[]; status?: string }): TimelineItem | null {
  const { text, parts } = textOf(payload.content);
  if (payload.role === Role.User) {
    return { ...base, is: "user", text, attempt: null, injected: false };
  }
  if (payload.role !== Role.Assistant) {
    return unknownItem(base, entry);
  }
  if (text === "" && parts.length === 0) {
    return null;
  }
  return { ...base, is: "prose", text, streaming: false, incomplete: payload.status === "incomplete", parts };
}

/** The texts of content parts; what has none is kept beside them. */
export function textOf(content: unknown): { text: string; parts: unknown[] } {
  let text = "";
  const parts: unknown[] = [];
  for (const part of Array.isArray(content) ? content : []) {
    const own = (part as { text?: unknown } | null)?.text;
    if (typeof own === "string") {
      text += own;
    } else {
      parts.push(part);
    }
  }
  return { text, parts };
}

export interface CallContext {
  compacted: boolean;
  result: Entry | null;
  standing: StandingCall | null;
  /** its run goes on */
  going: boolean;
  lastStep: boolean;
}

export function callItem(entry: Entry, { compacted, result, standing, going, lastStep }: CallContext): Call {
  const call = entry.payload as FunctionCall;
  const output = result ? (result.payload as FunctionCallOutput).output : "";
  const display: Display = asDisplay(result?.display) ?? asDisplay(entry.display) ?? { kind: DisplayKind.ToolCall };
  const ended = result ? (display.is_error === true ? "failed" : "done") : null;
  return {
    is: "call", key: entry.id, run: entry.run_id, seq: entry.seq, entry, compacted,
    callId: call.call_id, name: call.name, arguments: call.arguments,
    state: ended ?? (standing ? "standing" : going ? "running" : "open"),
    standing: result ? null : standing,
    output, result, display, lastStep,
    startedAt: entry.created_at,
    duration: result ? Date.parse(result.created_at) - Date.parse(entry.created_at) : null,
  };
}

function asDisplay(value: unknown): Display | null {
  const display = value as Display | null | undefined;
  return typeof display === "object" && display !== null && typeof display.kind === "string" ? display : null;
}
