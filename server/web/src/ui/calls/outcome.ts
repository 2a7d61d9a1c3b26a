// What became of a call, in a few words for the head of its card.

import { Code } from "../../protocol.gen.ts";
import type { Call } from "../../state/types.ts";
import type { Glyph } from "../icons.tsx";
import { stripped } from "../ansi.ts";
import { parseDiff } from "../diff.ts";
import { duration } from "../format.ts";

export interface CallOutcome {
  glyph: Glyph | "";
  words: string;
  tone: "" | "bad" | "need-text" | "act";
  /** it never ran, so it took no time */
  refused?: true;
  /** of a diff */
  added?: number;
  removed?: number;
}

// The result of a call that did not run is a sentence of the server for the model. Where
// it is one of these, people get the short form; else it stands there as it is.
const refusals: readonly { said: RegExp; words: (found: RegExpExecArray) => string; tone: CallOutcome["tone"] }[] = [
  { said: /^\S+ denied: no reason given$/, words: () => "Denied", tone: "" },
  { said: /^\S+ denied: ([\s\S]+)$/, words: (found) => `Denied: ${found[1] ?? ""}`, tone: "" },
  { said: /^\S+ is not on the allow list$/, words: () => "Not on the allow list", tone: "" },
  { said: /^cancelled before execution$/, words: () => "Cancelled before it ran", tone: "" },
  { said: /^outcome unknown: the process died/, words: () => "Outcome unknown: the process died", tone: "need-text" },
];

export function callOutcome(call: Call): CallOutcome {
  switch (call.state) {
    case "running":
      return { glyph: "run", words: "", tone: "act" };
    case "standing":
      return { glyph: "need", words: "Waits for approval", tone: "need-text" };
    case "open":
      return { glyph: "off", words: "No result yet", tone: "" };
    case "failed":
      return failed(call);
    default:
      return done(call);
  }
}

function failed(call: Call): CallOutcome {
  const exit = exitCode(call);
  if (exit !== null) {
    return { glyph: "", words: `exit ${exit}`, tone: "bad" };
  }
  const text = stripped(call.output).trim();
  for (const { said, words, tone } of refusals) {
    const found = said.exec(text);
    if (found) {
      return { glyph: "", words: words(found), tone, refused: true };
    }
  }
  const limit = limitOf(text);
  if (limit !== null) {
    return { glyph: "fail", words: `${Code.ToolTimeout}, ${duration(limit)}`, tone: "bad" };
  }
  return { glyph: "fail", words: call.display.summary || firstLine(text) || "Failed", tone: "bad" };
}

/** The limit that a call ran into, in ms; null = it says of none. The server writes it as Go does: "1h30m0s". */
function limitOf(text: string): number | null {
  const limit = /^\S+ timed out after ((?:[\d.]+(?:h|ms|m|s))+): /.exec(text)?.[1] ?? "";
  const units: Record<string, number> = { h: 3_600_000, m: 60_000, s: 1_000, ms: 1 };
  const parts = [...limit.matchAll(/([\d.]+)(h|ms|m|s)/g)];
  return parts.length === 0 ? null : parts.reduce((ms, [, n, unit]) => ms + Number(n) * (units[unit ?? ""] ?? 0), 0);
}

function done(call: Call): CallOutcome {
  const { renderer, summary, text } = call.display;
  if (renderer === "diff") {
    const diff = parseDiff(text ?? "");
    return diff ? { glyph: "", words: "", tone: "", added: diff.added, removed: diff.removed } : { glyph: "ok", words: summary ?? "", tone: "" };
  }
  const exit = exitCode(call);
  if (exit !== null && exit !== 0) {
    return { glyph: "", words: `exit ${exit}`, tone: "bad" };
  }
  if (renderer === "todo") {
    return { glyph: "", words: "", tone: "" }; // the list says it
  }
  return { glyph: "ok", words: renderer === "terminal" ? "" : (summary ?? ""), tone: "" };
}

/** null: the display does not tell it. */
function exitCode(call: Call): number | null {
  const extra = call.display.extra;
  const code = typeof extra === "object" && extra !== null ? (extra as Record<string, unknown>).exit_code : undefined;
  return typeof code === "number" ? code : null;
}

/** Whether the card tells of something that went wrong. */
export function wentWrong(call: Call): boolean {
  return call.state === "failed" || (exitCode(call) ?? 0) !== 0;
}

function firstLine(text: string): string {
  return text.split("\n", 1)[0] ?? "";
}
