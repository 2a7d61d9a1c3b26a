// What a terminal printed, as text with the few styles that the page has. Colours are
// mapped to ours; every other control sequence is dropped.

/** A stretch of one style; style is a list of class names, "" for none. */
export interface Span {
  text: string;
  style: string;
}

interface Style {
  colour: string;
  bold: boolean;
  dim: boolean;
}

// CSI, OSC (ended by BEL or ST), other string sequences, and two-byte escapes.
const sequence = /\u001b(?:\[([0-9;:?<=>]*)[ -/]*([@-~])|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[PX^_][^\u001b]*(?:\u001b\\)?|[ -/]*[0-~]?)/g;

/** Reads the styles of a text and drops what is no text. */
export function spans(raw: string): Span[] {
  const out: Span[] = [];
  let style: Style = { colour: "", bold: false, dim: false };
  let last = 0;
  const push = (piece: string): void => {
    const text = plain(piece);
    if (text !== "") {
      out.push({ text, style: classes(style) });
    }
  };
  for (const found of raw.matchAll(sequence)) {
    push(raw.slice(last, found.index));
    last = found.index + found[0].length;
    if (found[2] === "m") {
      style = applied(style, found[1] ?? "");
    }
  }
  push(raw.slice(last));
  return out;
}

/** A text without its control sequences. */
export function stripped(raw: string): string {
  return plain(raw.replace(sequence, ""));
}

/**
 * A carriage return goes back to the start of the line: what stands after the last one is
 * what a terminal would show, near enough.
 */
function plain(text: string): string {
  return text
    .replace(/\r+\n/g, "\n")
    .replace(/[^\n]*\r(?=[^\n])/g, "")
    .replace(/[\u0000-\u0008\u000b-\u001f\u007f]/g, "");
}

function applied(style: Style, codes: string): Style {
  let { colour, bold, dim } = style;
  const list = codes === "" ? [0] : codes.split(/[;:]/).map(Number);
  for (let i = 0; i < list.length; i++) {
    const code = list[i] ?? 0;
    if (code === 38 || code === 48) {
      i += list[i + 1] === 5 ? 2 : 4; // a colour of its own: dropped with its operands
      continue;
    }
    if (code === 0) {
      colour = "";
      bold = dim = false;
    } else if (code === 1) {
      bold = true;
    } else if (code === 2) {
      dim = true;
    } else if (code === 22) {
      bold = dim = false;
    } else if (code === 39) {
      colour = "";
    } else if ((code >= 30 && code <= 37) || (code >= 90 && code <= 97)) {
      colour = colours[code % 10] ?? "";
    }
  }
  return { colour, bold, dim };
}

// Black and white are our text; magenta and cyan have no colour of ours.
const colours = ["", "ansi-red", "ansi-green", "ansi-yellow", "ansi-blue", "", "", ""];

function classes(style: Style): string {
  return [style.colour, style.bold ? "ansi-bold" : "", style.dim ? "ansi-dim" : ""].filter(Boolean).join(" ");
}
