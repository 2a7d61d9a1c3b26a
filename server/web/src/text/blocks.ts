// Markdown in blocks: a block that has ended is rendered once, only what may still grow is
// rendered again. A text gives the same blocks however it arrived.

import { Lexer, Tokenizer, type Token, type Tokens } from "marked";
import { openFence } from "./lines.ts";

export const markdownOptions = { gfm: true, breaks: true } as const;

/**
 * HTML in a text is text: drawn as markup, what the sanitiser takes out of it would be gone
 * from the screen. Only a break is one; in a cell of a table there is no other.
 */
export const noHTML = {
  html: () => undefined,
  tag(src: string): Tokens.Br | undefined {
    const raw = /^<br *\/?>/i.exec(src)?.[0];
    return raw === undefined ? undefined : { type: "br", raw };
  },
};

const tokenizer = Object.assign(new Tokenizer(), noHTML);

export interface Block {
  /** its source, blank lines behind it included */
  raw: string;
  /** a fence of the top level */
  code: { lang: string; text: string } | null;
}

/** The blocks of a text, top level. */
export function blocksOf(text: string): Block[] {
  const blocks: Block[] = [];
  for (const token of tokens(text)) {
    const last = blocks.at(-1);
    if (token.type === "space" && last) {
      last.raw += token.raw;
    } else if (token.type === "space") {
      blocks.push({ raw: token.raw, code: null });
    } else {
      blocks.push({ raw: token.raw, code: codeOf(token) });
    }
  }
  return blocks;
}

function tokens(text: string): Token[] {
  try {
    return new Lexer({ ...markdownOptions, tokenizer }).blockTokens(text, []);
  } catch {
    return [{ type: "text", raw: text, text }]; // nested deeper than the parser can go
  }
}

/** Characters of a block, and marks of emphasis in it, up to which parsing takes no time that a reader notices. */
const most = { characters: 50_000, marks: 3_000 };

/** A block that is drawn as the text that it is: nobody waits for its parsing. */
export function isHeavy(raw: string): boolean {
  return raw.length > most.characters || (raw.length > most.marks && raw.replace(/[^*_~]/g, "").length > most.marks);
}

const plainLine = /^\p{L}[\p{L}\p{N} ,.;:!?'"()%/–—…’‘“”„-]*(?<! )$/u;

/** A block in which nothing can be markup: the parser and the sanitiser would change nothing. */
export function isPlain(raw: string): boolean {
  return !/:\/\/|www\./i.test(raw) && raw.replace(/\n+$/, "").split("\n").every((line) => plainLine.test(line));
}

function codeOf(token: Token): Block["code"] {
  if (token.type !== "code" || token["codeBlockStyle"] === "indented") {
    return null;
  }
  return { lang: String(token["lang"] ?? "").split(/\s/)[0] ?? "", text: String(token["text"]) };
}

/**
 * How much of a growing text has ended for good: the blocks before the last one, seen from
 * its whole lines. A half line may turn out to go on with what stands before it.
 */
export function endedLength(text: string): number {
  const whole = text.slice(0, text.lastIndexOf("\n") + 1);
  const blocks = blocksOf(whole);
  const last = blocks.at(-1);
  const closed = last?.code != null && openFence(last.raw) === ""; // nothing can be added to it
  return closed ? whole.length : whole.length - (last?.raw.length ?? 0);
}

/**
 * What of the open end of a text is shown while it grows. A half-typed fence marker and a
 * half table row are held back: they would be drawn as text and then become something else.
 */
export function shown(tail: string): string {
  const start = tail.lastIndexOf("\n") + 1;
  const line = tail.slice(start);
  const lines = tail.slice(0, start).split("\n");
  const before = lines[lines.length - 2] ?? ""; // the last whole line
  const fence = openFence(tail.slice(0, start));
  if (fence) {
    const mark = line.trimStart();
    return mark !== "" && fence.startsWith(mark.slice(0, fence.length)) && /^(.)\1*\s*$/.test(mark) ? tail.slice(0, start) : tail;
  }
  if (/^ {0,3}(`{1,}|~{1,})[^`\n]*$/.test(line)) {
    return tail.slice(0, start);
  }
  if (/^ {0,3}\|/.test(line) || (/^ {0,3}\|/.test(before) && line !== "")) {
    // A head without its delimiter row is no table yet.
    const isHead = !/^ {0,3}\|/.test(lines[lines.length - 3] ?? "");
    return /^ {0,3}\|/.test(before) && isHead ? tail.slice(0, start - before.length - 1) : tail.slice(0, start);
  }
  if (/^ {0,3}\|/.test(before) && line === "" && !/^ {0,3}\|/.test(lines[lines.length - 3] ?? "")) {
    return tail.slice(0, start - before.length - 1);
  }
  return tail;
}
