// Characters that could make an approval's arguments read as something else are shown
// as what they are.

/** A stretch of text; escaped ones stand for a character that could not be seen. */
export interface Piece {
  text: string;
  escaped: boolean;
}

// Controls but tab and line feed; soft hyphen; marks and joiners without width; bidi
// controls; line and paragraph separators; fillers; variation selectors; tags; spaces that
// look like a space or like nothing; whatever is not assigned a glyph of its own.
const hidden =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u00a0\u00ad\u034f\u061c\u115f\u1160\u1680\u17b4\u17b5\u180b-\u180f\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\ud800-\udfff]|[\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}\u{f0000}-\u{10ffff}]/gu;

/** Splits text so that every invisible or reordering character is a piece of its own. */
export function visible(text: string): Piece[] {
  const pieces: Piece[] = [];
  let last = 0;
  for (const found of text.matchAll(hidden)) {
    if (found.index > last) {
      pieces.push({ text: text.slice(last, found.index), escaped: false });
    }
    pieces.push({ text: named(found[0]), escaped: true });
    last = found.index + found[0].length;
  }
  if (last < text.length) {
    pieces.push({ text: text.slice(last), escaped: false });
  }
  return pieces;
}

function named(character: string): string {
  const point = character.codePointAt(0) ?? 0;
  const hex = point.toString(16).toUpperCase().padStart(4, "0");
  return point > 0xffff ? `\\u{${hex}}` : `\\u${hex}`;
}
