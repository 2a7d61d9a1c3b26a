// The allow list as it is written: one pattern a line.

const maxPatterns = 128;
const maxLength = 256; // characters of a pattern

/** One pattern a line; blank lines count for nothing. */
export function patternsOf(text: string): string[] {
  return text.split("\n").map((line) => line.trim()).filter((line) => line !== "");
}

/** "" or what is wrong with a list. */
export function wrongPatterns(patterns: readonly string[]): string {
  if (patterns.length > maxPatterns) {
    return `These are ${patterns.length} patterns, at most ${maxPatterns} can be kept.`;
  }
  const long = patterns.findIndex((p) => [...p].length > maxLength);
  return long < 0 ? "" : `Pattern ${long + 1} is longer than ${maxLength} characters.`;
}
