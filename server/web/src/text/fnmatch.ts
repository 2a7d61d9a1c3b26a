// The matching of the policy's patterns, for the tester in the settings: File.fnmatch without
// flags, held to the table that the server is held to.

type Chars = readonly string[];

/** Whether one of the patterns matches the name; the first that does, or null. */
export function allowedBy(patterns: readonly string[], name: string): string | null {
  return patterns.find((pattern) => fnmatch(pattern, name)) ?? null;
}

export function fnmatch(pattern: string, name: string): boolean {
  if (pattern.includes("\0") || name.includes("\0")) {
    return false;
  }
  if (name.startsWith(".") && !(pattern.startsWith("\\") ? pattern.slice(1) : pattern).startsWith(".")) {
    return false; // a leading dot is matched by a dot only
  }
  const p = [...pattern];
  const n = [...name];
  let at = 0;
  let seen = 0;
  // The latest star: the pattern behind it, and how far it reaches so far.
  let behind = -1;
  let reach = 0;
  for (;;) {
    if (p[at] === "*") {
      while (p[at] === "*") {
        at++;
      }
      if (unescaped(p, at) === p.length) {
        return true;
      }
      behind = at;
      reach = seen;
    }
    if (seen === n.length) {
      return unescaped(p, at) === p.length;
    }
    const next = step(p, at, n[seen] as string);
    if (next >= 0) {
      at = next;
      seen++;
    } else if (behind < 0) {
      return false;
    } else {
      // The star takes one character more. An earlier star has no need to move.
      at = behind;
      seen = ++reach;
    }
  }
}

/** Where the pattern goes on behind a match of one character; -1 = no match. */
function step(p: Chars, at: number, c: string): number {
  if (p[at] === "?") {
    return at + 1;
  }
  if (p[at] === "[") {
    return set(p, at + 1, c);
  }
  const literal = unescaped(p, at);
  return p[literal] === c ? literal + 1 : -1;
}

/** A set from behind its bracket on. One that is not closed has no members. */
function set(p: Chars, at: number, c: string): number {
  const negated = p[at] === "!" || p[at] === "^";
  let i = negated ? at + 1 : at;
  let listed = false;
  while (i < p.length) {
    if (p[i] === "]") {
      return listed !== negated ? i + 1 : -1;
    }
    i = unescaped(p, i);
    const low = p[i++];
    let high = low;
    if (p[i] === "-" && i + 1 < p.length && p[i + 1] !== "]") {
      i = unescaped(p, i + 1);
      high = p[i++];
    }
    listed ||= c === low || c === high || (code(low) < code(c) && code(c) < code(high));
  }
  return -1;
}

function unescaped(p: Chars, at: number): number {
  return p[at] === "\\" ? at + 1 : at;
}

function code(c: string | undefined): number {
  return c?.codePointAt(0) ?? 0;
}
