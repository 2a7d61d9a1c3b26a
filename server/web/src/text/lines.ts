// The lines of a text before it is parsed: what no parser and no layout gets through in time
// is made shorter. A text gives the same lines however it arrived.

/** Deeper lists take a parser longer than anybody waits: spaces before a marker. */
const deepest = 200;
const tooDeep = new RegExp(`^ {${deepest},}(?=[-*+]|\\d)`, "gm");

/** One kind of line end, no list that is nested without end, no line that is. */
export function normalise(text: string): string {
  const lines = text.includes("\r") ? text.replace(/\r\n?/g, "\n") : text;
  return broken(lines.includes(" ".repeat(deepest)) ? lines.replace(tooDeep, " ".repeat(deepest)) : lines);
}

/** Characters of a line. All of a paragraph is parsed and laid out again for each word that it grows by. */
const longest = 4_000;
/** Where a longer one becomes two paragraphs: what follows is prose, whatever it is. */
const seam = / (?=\p{L})/gu;
/** Code, rows of a table, fences: another line would change what they are. */
const whole = /^(?: {4}|\t| {0,3}(?:\||```|~~~))/;

function broken(text: string): string {
  if (!hasLong(text)) {
    return text;
  }
  let open = "";
  return text.split("\n").map((line) => {
    const before = open;
    open = fenceAfter(open, line);
    return before === "" && line.length > longest && !whole.test(line) ? paragraphs(line) : line;
  }).join("\n");
}

function hasLong(text: string): boolean {
  for (let start = 0, end = 0; start + longest < text.length; start = end + 1) {
    end = text.indexOf("\n", start);
    if ((end < 0 ? text.length : end) - start > longest) {
      return true;
    }
  }
  return false;
}

function paragraphs(line: string): string {
  const parts: string[] = [];
  let start = 0;
  for (;;) {
    seam.lastIndex = start + longest;
    const at = seam.exec(line)?.index ?? line.length;
    parts.push(line.slice(start, at));
    if (at === line.length) {
      return parts.join("\n\n");
    }
    start = at + 1;
  }
}

/** The marker of the fence that a text of whole lines ends in; "" = none. */
export function openFence(text: string): string {
  return text.split("\n").reduce(fenceAfter, "");
}

/** The marker of the fence that is open behind a line, by the one that was before it. */
function fenceAfter(open: string, line: string): string {
  const mark = /^ {0,3}(`{3,}|~{3,})(.*)$/.exec(line);
  if (!mark?.[1]) {
    return open;
  }
  if (open === "") {
    return mark[1][0] === "`" && mark[2]?.includes("`") ? "" : mark[1];
  }
  return mark[1].startsWith(open) && mark[2]?.trim() === "" ? "" : open;
}
