// The line under a finished run: counted from its entries alone, so a reload agrees.

import { ItemType, Kind, Role, type AssistantMessage, type Entry, type UserMessage } from "../protocol.gen.ts";
import { textOf } from "./item.ts";
import { attemptOf } from "./path.ts";
import type { RunFoot } from "./types.ts";

/** entries: those of the run on the active path, oldest first, at least one. */
export function footOf(entries: readonly Entry[], children: ReadonlyMap<string, readonly Entry[]>): RunFoot {
  const first = entries[0] as Entry;
  const last = entries[entries.length - 1] as Entry;
  const answers = entries.filter((e) => roleOf(e) === Role.Assistant);
  const user = entries.findLast((e, i) => roleOf(e) === Role.User && entries.slice(0, i).every((x) => roleOf(x) === Role.User));
  const answer = entries.find((e) => e.seq > (user?.seq ?? -1)) ?? last;
  const cost = answers.map((e) => e.usage?.cost).filter((c) => typeof c === "number");
  const told = answers.filter((e) => e.usage !== null);
  return {
    steps: answers.length,
    duration: Date.parse(last.created_at) - Date.parse(first.created_at),
    inputTokens: told.length > 0 ? sum(told.map((e) => e.usage?.input_tokens)) : null,
    outputTokens: told.length > 0 ? sum(told.map((e) => e.usage?.output_tokens)) : null,
    partial: answers.some((e) => typeof e.usage?.input_tokens !== "number" || typeof e.usage.output_tokens !== "number"),
    cost: cost.length > 0 ? sum(cost) : null,
    attempt: attemptOf(answer, children.get(answer.parent_id) ?? []),
    // A run that answered the history as it stood has no text of its own: it hangs on one.
    userEntry: user?.id ?? first.parent_id,
    lastEntry: last.id,
    text: answers.map((e) => textOf((e.payload as AssistantMessage).content).text).filter((t) => t !== "").join("\n\n"),
  };
}

function sum(numbers: readonly (number | null | undefined)[]): number {
  return numbers.reduce((total: number, n) => total + (n ?? 0), 0);
}

function roleOf(entry: Entry): string {
  const payload = entry.payload as UserMessage | AssistantMessage;
  return entry.kind === Kind.Item && payload.type === ItemType.Message ? payload.role : "";
}
