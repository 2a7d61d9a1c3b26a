// Lines that nobody reads to their end: the beginning is drawn, and a button that puts the
// rest in its place. What wraps between its words is no such line, however long it is.

import { size } from "../ui/format.ts";

const most = 2_000; // characters

/** In code a line is a line. */
export const longLine = new RegExp(`[^\\n]{${most + 1},}`, "g");
/** In prose a line wraps, where it can. */
export const longWord = new RegExp(`\\S{${most + 1},}`, "g");

/** The nodes of a text: one, unless something in it is too long. */
export function cutText(document: Document, text: string, long: RegExp): Node[] {
  const nodes: Node[] = [];
  let at = 0;
  for (const { index, 0: whole } of text.length > most ? text.matchAll(long) : []) {
    const end = index + whole.length;
    const high = text.charCodeAt(index + most - 1) >> 10 === 0x36; // half a character
    const cut = index + most - (high ? 1 : 0);
    nodes.push(document.createTextNode(text.slice(at, cut)), rest(document, text.slice(cut, end), whole.length));
    at = end;
  }
  if (at < text.length || nodes.length === 0) {
    nodes.push(document.createTextNode(text.slice(at)));
  }
  return nodes;
}

function rest(document: Document, text: string, whole: number): HTMLElement {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "more";
  button.textContent = `… Show all ${size(whole)}`;
  button.onclick = (event) => (event.currentTarget as Element).replaceWith(text); // a morph hands it to the one that stands
  return button;
}

/** Cuts what is too long in the texts below a node. */
export function cutTexts(document: Document, below: Node): void {
  for (const node of [...below.childNodes]) {
    if (node.nodeType === 3) {
      const pieces = cutText(document, (node as Text).data, longWord);
      if (pieces.length > 1) {
        (node as Text).replaceWith(...pieces);
      }
    } else if (!(node as Element).matches(".src")) {
      cutTexts(document, node);
    }
  }
}
