// The server's allow-list patterns, for the tester in the settings: the rules of
// turn/tool/policy, held to the same tables of measured answers.

const star = "*";

/** Returns the first pattern of a list that covers the name; null = none does. */
export function allowing(patterns: readonly string[], name: string): string | null {
  return patterns.find((pattern) => matches(pattern, name)) ?? null;
}

/** Whether the pattern covers the whole name, as File.fnmatch has it. */
export function matches(pattern: string, name: string): boolean {
  if (pattern.includes("\0") || name.includes("\0")) {
    return false;
  }
  const p = [...pattern];
  const n = [...name];
  if (n[0] === "." && p[skip(p, 0)] !== ".") {
    return false; // only a dot stands for the dot in front
  }
  let at = 0; // in the pattern
  let to = 0; // in the name
  let afterStar = -1;
  let untaken = 0;
  for (;;) {
    if (p[at] === star) {
      while (p[at] === star) at++;
      if (skip(p, at) === p.length) {
        return true;
      }
      afterStar = at;
      untaken = to;
    }
    if (to === n.length) {
      return skip(p, at) === p.length;
    }
    const next = step(p, at, n[to] ?? "");
    if (next >= 0) {
      at = next;
      to++;
      continue;
    }
    if (afterStar < 0) {
      return false;
    }
    // Let the newest star take one character more: what an earlier one could take, it can.
    at = afterStar;
    to = ++untaken;
  }
}

/** Where the pattern goes on when what stands at a place matches a character; −1 = it does not. */
function step(p: readonly string[], at: number, c: string): number {
  if (p[at] === "?") {
    return at + 1;
  }
  if (p[at] === "[") {
    return inClass(p, at + 1, c);
  }
  const here = skip(p, at);
  return here < p.length && p[here] === c ? here + 1 : -1;
}

function inClass(p: readonly string[], from: number, c: string): number {
  let at = from;
  const negated = p[at] === "!" || p[at] === "^";
  if (negated) at++;
  let listed = false;
  while (at < p.length) {
    if (p[at] === "]") {
      return listed !== negated ? at + 1 : -1;
    }
    at = skip(p, at);
    const low = p[at] ?? "";
    at = Math.min(at + 1, p.length);
    let high = low;
    if (at + 1 < p.length && p[at] === "-" && p[at + 1] !== "]") {
      at = skip(p, at + 1);
      high = p[at] ?? "";
      at = Math.min(at + 1, p.length);
    }
    listed ||= c === low || c === high || (point(low) < point(c) && point(c) < point(high));
  }
  return -1; // a class that is never closed matches nothing
}

function point(c: string): number {
  return c.codePointAt(0) ?? -1;
}

/** Steps over a backslash. */
function skip(p: readonly string[], at: number): number {
  return p[at] === "\\" ? at + 1 : at;
}
