// Long texts: what is put on the screen, and what is said of the rest. Copying always
// copies everything.

/** Lines of a pane that is not opened. */
export const paneLines = 12;
const maxLine = 2_000; // characters
const maxText = 200_000; // characters

export interface Cut {
  text: string;
  /** lines of the whole */
  lines: number;
  /** lines that are left out, before (tail) or behind (head) */
  hidden: number;
  /** something of it is not shown, be it a line or the end of one */
  cut: boolean;
}

/** The first lines of a text, or with tail the last ones. limit 0: all of them. */
export function cutLines(text: string, limit: number, tail: boolean): Cut {
  const all = text.replace(/\n$/, "").split("\n");
  let kept = all;
  if (limit > 0 && all.length > limit + 1) {
    kept = tail ? all.slice(-limit) : all.slice(0, limit);
  }
  let room = maxText;
  let long = false;
  const lines: string[] = [];
  const inOrder = tail ? [...kept].reverse() : kept;
  for (const line of inOrder) {
    const short = limit > 0 && line.length > maxLine ? line.slice(0, maxLine) + "…" : line;
    long ||= short !== line;
    if (limit > 0 && short.length > room) {
      break; // a pane ends on a whole line
    }
    room -= short.length + 1;
    lines.push(short);
  }
  if (tail) {
    lines.reverse();
  }
  const hidden = all.length - lines.length;
  return { text: lines.join("\n"), lines: all.length, hidden, cut: hidden > 0 || long };
}
