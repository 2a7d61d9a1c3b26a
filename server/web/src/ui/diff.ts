// A unified diff, parsed for the page.

/** One line of a hunk. Numbers start at 1; a removed line has the old one, others the new. */
export interface Line {
  kind: "same" | "add" | "del";
  number: number;
  text: string;
  /** [from, to) of the changed words, when the line has a counterpart */
  changed?: [number, number];
}

export interface Hunk {
  head: string;
  lines: Line[];
}

export interface Diff {
  hunks: Hunk[];
  added: number;
  removed: number;
  /** what stands behind the hunks, such as how much was cut */
  rest: string;
}

const hunkHead = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@.*$/;

/** Reads a unified diff; null when the text is none. */
export function parseDiff(text: string): Diff | null {
  const diff: Diff = { hunks: [], added: 0, removed: 0, rest: "" };
  let hunk: Hunk | null = null;
  let oldLine = 0;
  let newLine = 0;
  const rest: string[] = [];
  for (const line of text.split("\n")) {
    const head = hunkHead.exec(line);
    if (head) {
      hunk = { head: line, lines: [] };
      diff.hunks.push(hunk);
      oldLine = Number(head[1]);
      newLine = Number(head[3]);
    } else if (hunk && line.startsWith("+")) {
      hunk.lines.push({ kind: "add", number: newLine++, text: line.slice(1) });
      diff.added++;
    } else if (hunk && line.startsWith("-") && !line.startsWith("--- ")) {
      hunk.lines.push({ kind: "del", number: oldLine++, text: line.slice(1) });
      diff.removed++;
    } else if (hunk && line.startsWith(" ")) {
      hunk.lines.push({ kind: "same", number: newLine++, text: line.slice(1) });
      oldLine++;
    } else if (hunk && line !== "" && !line.startsWith("\\") && !line.startsWith("+++ ") && !line.startsWith("--- ")) {
      rest.push(line);
    }
  }
  for (const h of diff.hunks) {
    markWords(h.lines);
  }
  diff.rest = rest.join("\n");
  return diff.hunks.length > 0 ? diff : null;
}

/** How many lines of a diff there are to show. */
export function lineCount(diff: Diff): number {
  return diff.hunks.reduce((n, h) => n + h.lines.length, 0);
}

/** Marks what changed within lines, where as many were removed as were added behind them. */
function markWords(lines: Line[]): void {
  let i = 0;
  while (i < lines.length) {
    const from = i;
    while (lines[i]?.kind === "del") i++;
    const middle = i;
    while (lines[i]?.kind === "add") i++;
    if (middle > from && i - middle === middle - from) {
      for (let k = 0; k < middle - from; k++) {
        markPair(lines[from + k], lines[middle + k]);
      }
    }
    if (i === from) i++;
  }
}

function markPair(before: Line | undefined, after: Line | undefined): void {
  if (!before || !after) {
    return;
  }
  const a = words(before.text);
  const b = words(after.text);
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start++;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end++;
  const head = a.slice(0, start).join("").length;
  const tail = a.slice(a.length - end).join("").length;
  const common = head + tail;
  const shared = before.text.slice(0, head).trim().length + before.text.slice(before.text.length - tail).trim().length;
  if (shared * 3 < Math.max(before.text.trim().length, after.text.trim().length)) {
    return; // other lines altogether: their tint says it
  }
  if (common < before.text.length) {
    before.changed = [head, before.text.length - tail];
  }
  if (common < after.text.length) {
    after.changed = [head, after.text.length - tail];
  }
}

function words(line: string): string[] {
  return line.match(/\w+|\s+|[^\w\s]/g) ?? [];
}
