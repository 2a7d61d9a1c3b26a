// A code block: its language, a button that copies all of it, the code.

import { cutText, longLine } from "./long.ts";

export function codeBlock(document: Document, lang: string, text: string, copy: (text: string) => void): HTMLElement {
  const block = document.createElement("div");
  block.className = "src";
  const head = block.appendChild(document.createElement("header"));
  head.appendChild(document.createElement("span")).textContent = lang;
  const button = head.appendChild(document.createElement("button"));
  button.type = "button";
  button.className = "btn quiet small";
  button.textContent = "Copy";
  button.setAttribute("aria-label", "Copy code");
  const pre = block.appendChild(document.createElement("pre"));
  pre.tabIndex = 0; // it scrolls sideways: the keyboard must reach it
  const code = pre.appendChild(document.createElement("code"));
  const whole = text.replace(/\n$/, "");
  code.append(...cutText(document, whole, longLine));
  button.onclick = () => copy(whole);
  return block;
}

/** The code blocks in nodes, with what highlights them: language and code. */
export function codesIn(nodes: readonly Node[]): { lang: string; code: HTMLElement }[] {
  const found: { lang: string; code: HTMLElement }[] = [];
  for (const node of nodes) {
    if (node.nodeType !== 1) {
      continue;
    }
    const element = node as Element;
    for (const block of element.matches(".src") ? [element] : element.querySelectorAll(".src")) {
      const code = block.querySelector("code");
      if (code) {
        found.push({ lang: block.querySelector("header > span")?.textContent ?? "", code });
      }
    }
  }
  return found;
}
