// The one polite live region: what it says, and nothing else is read aloud by itself.

import { signal } from "@preact/signals";

/** What was said last. The count makes the same words twice two sayings. */
export const said = signal<{ words: string; count: number }>({ words: "", count: 0 });

/** Says words to a screen reader. */
export function say(words: string): void {
  said.value = { words, count: said.peek().count + 1 };
}

/** Copies everything, and says so. */
export async function copy(text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    say("Copied");
  } catch {
    say("The browser did not let the page copy");
  }
}
