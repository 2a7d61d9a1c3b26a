// Which items are in the document: pages of 100, at most 400, never a spacer. What is cut
// stands beyond a screen from the reader, and comes back as a page.

export const page = 100;
export const most = 400;
/** px of the lowest item, with its gap */
const lowest = 40;
/** items that are drawn well within a task of 50 ms */
const slice = 30;

/** [from, to) of the items. toEnd: it follows the newest. */
export interface Window {
  from: number;
  to: number;
}

/** The newest items. */
export function newest(length: number): Window {
  return { from: Math.max(0, length - 2 * page), to: length };
}

/** The newest items that fill a screen of a height in px: a session shows them first. */
export function screenful(length: number, height: number): Window {
  return { from: Math.max(0, length - Math.ceil(height / lowest)), to: length };
}

/** Grown towards the newest items by what is drawn in a frame; the same window when they are all in it. */
export function grown(w: Window, length: number): Window {
  const { from } = newest(length);
  return w.from > from ? { from: Math.max(from, w.from - slice), to: w.to } : w;
}

/** A page more at the top; what is too much goes at the bottom. */
export function earlier(w: Window): Window {
  const from = Math.max(0, w.from - page);
  return { from, to: Math.min(w.to, from + most) };
}

/** A page more at the bottom; what is too much goes at the top. */
export function later(w: Window, length: number): Window {
  const to = Math.min(length, w.to + page);
  return { from: Math.max(w.from, to - most), to };
}

/** The window that shows one item, with what stands around it. */
export function around(index: number, length: number): Window {
  const from = Math.max(0, index - page);
  return { from, to: Math.min(length, from + 2 * page) };
}

/**
 * The same window after the items changed: its first item keeps its place, and a window
 * that ended at the end still does. first: where its first item is now; −1 = gone.
 */
export function kept(w: Window, before: number, length: number, first: number): Window {
  if (first < 0) {
    return newest(length);
  }
  const size = w.to - w.from;
  const to = w.to === before ? length : Math.min(length, first + size);
  return { from: Math.max(first, to - most), to };
}
