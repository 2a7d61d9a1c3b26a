// Markdown on the page, also while it is still being written: ended blocks stand, the open
// end is morphed, and nothing but growth happens under a selection.

import { Marked, type Tokens } from "marked";
import { blocksOf, endedLength, isHeavy, isPlain, markdownOptions, noHTML, shown, type Block } from "./blocks.ts";
import { codeBlock, codesIn } from "./code.ts";
import { highlight } from "./highlight.ts";
import { normalise } from "./lines.ts";
import { cutText, cutTexts, longWord } from "./long.ts";
import { morph, onlyGrows } from "./morph.ts";
import { createSanitiser, type Sanitiser } from "./sanitise.ts";

/** What the engine needs of a browser. */
export interface ProseOptions {
  window: Window & typeof globalThis;
  /** runs work when there is nothing better to do */
  idle(work: () => void): void;
  copy(text: string): void;
}

export class ProseEngine {
  readonly #o: ProseOptions;
  readonly #clean: Sanitiser;
  readonly #marked = new Marked(markdownOptions, { tokenizer: noHTML as object, renderer: { link: rawLink } });

  constructor(o: ProseOptions) {
    this.#o = o;
    this.#clean = createSanitiser(o.window);
  }

  /** Draws into a host that nobody else draws into. */
  attach(host: HTMLElement): ProseView {
    return new ProseView(host, {
      render: (block) => this.#render(block),
      colour: (nodes) => this.#o.idle(() => this.#colour(nodes)),
    });
  }

  #render(block: Block): Node[] {
    const { document } = this.#o.window;
    if (block.code) {
      return [codeBlock(document, block.code.lang, block.code.text, this.#o.copy)];
    }
    if (isPlain(block.raw) || isHeavy(block.raw)) {
      return [plain(document, block.raw)];
    }
    let nodes: DocumentFragment;
    try {
      nodes = this.#clean.prose(this.#marked.parse(block.raw, { async: false }));
    } catch {
      return [plain(document, block.raw)]; // nested deeper than anybody can read
    }
    for (const pre of nodes.querySelectorAll("pre")) {
      const code = pre.querySelector("code") ?? pre;
      const lang = /\blanguage-(\S+)/.exec(code.className)?.[1] ?? "";
      pre.replaceWith(codeBlock(document, lang, code.textContent ?? "", this.#o.copy));
    }
    cutTexts(document, nodes);
    // Line ends between blocks are nobody's text.
    return [...nodes.childNodes].filter((n) => n.nodeType !== 3 || n.textContent?.trim() !== "");
  }

  #colour(nodes: readonly Node[]): void {
    for (const { lang, code } of codesIn(nodes)) {
      const markup = code.isConnected && !code.firstElementChild && !isSelected([code]) ? highlight(code.textContent ?? "", lang) : null;
      if (markup !== null) {
        code.replaceChildren(this.#clean.code(markup));
      }
    }
  }
}

/** A link that leads nowhere is shown as it was written; false: any other is drawn as usual. */
function rawLink({ href, raw }: Tokens.Link): string | false {
  return /^(?:https?:|mailto:)/i.test(href) ? false : raw.replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);
}

/** Text as it is, with its lines. */
function plain(document: Document, text: string): HTMLElement {
  const p = document.createElement("p");
  for (const [i, line] of text.trim().split("\n").entries()) {
    p.append(...(i > 0 ? [document.createElement("br")] : []), ...cutText(document, line, longWord));
  }
  return p;
}

interface Pen {
  render(block: Block): Node[];
  /** highlights the code in the nodes of a block that has ended, in idle time */
  colour(nodes: readonly Node[]): void;
}

interface Drawn {
  raw: string;
  nodes: Node[];
  ended: boolean;
}

export class ProseView {
  readonly #host: HTMLElement;
  readonly #pen: Pen;
  #drawn: Drawn[] = [];
  /** of the text: what the ended blocks are made of */
  #ended = "";
  /** a drawing that waits until nothing in the open end is selected */
  #late: { text: string; streaming: boolean } | null = null;

  constructor(host: HTMLElement, pen: Pen) {
    this.#host = host;
    this.#pen = pen;
  }

  /** text is all of it so far; streaming: more may come. */
  update(text: string, streaming: boolean): void {
    const whole = normalise(streaming && text.endsWith("\r") ? text.slice(0, -1) : text);
    if (!whole.startsWith(this.#ended)) {
      this.#ended = ""; // another text: everything is looked at again
    }
    let tail = whole.slice(this.#ended.length);
    const more = streaming ? endedLength(tail) : tail.length;
    const ended = blocksOf(tail.slice(0, more));
    const open = streaming ? blocksOf(shown(tail.slice(more))) : [];
    const kept = this.#ended === "" ? 0 : this.#drawn.findLastIndex((d) => d.ended) + 1;
    tail = tail.slice(0, more);
    if (!this.#draw(kept, [...ended, ...open], ended.length)) {
      this.#wait(text, streaming);
      return;
    }
    this.#ended += tail;
    this.#forgetLate();
  }

  /** The host leaves the page. */
  end(): void {
    this.#forgetLate();
  }

  /** Draws blocks behind those that stand; false: a selection stands where it would not survive. */
  #draw(kept: number, blocks: readonly Block[], ended: number): boolean {
    const before = this.#drawn.slice(0, kept);
    const after = this.#drawn.slice(kept);
    const next = blocks.map((block, i) => ({
      raw: block.raw, ended: i < ended, nodes: after[i]?.raw === block.raw ? null : this.#pen.render(block),
    }));
    if (isSelected(after.flatMap((d) => d.nodes)) && !this.#grows(after, next)) {
      return false;
    }
    const drawn = next.map(({ raw, ended, nodes }, i): Drawn => {
      const there = after[i];
      return { raw, ended, nodes: nodes ? this.#morph(there, nodes, after.slice(i + 1)) : (there as Drawn).nodes };
    });
    for (const surplus of after.slice(next.length)) {
      surplus.nodes.forEach((n) => this.#host.removeChild(n));
    }
    this.#drawn = [...before, ...drawn];
    for (const [i, block] of drawn.entries()) {
      if (block.ended && !(after[i]?.ended && after[i].raw === block.raw)) {
        this.#pen.colour(block.nodes);
      }
    }
    return true;
  }

  #morph(there: Drawn | undefined, nodes: readonly Node[], later: readonly Drawn[]): Node[] {
    const end = there?.nodes.at(-1)?.nextSibling ?? later.flatMap((d) => d.nodes)[0] ?? null;
    return morph(this.#host, there?.nodes ?? [], nodes, end);
  }

  #grows(after: readonly Drawn[], next: readonly { nodes: Node[] | null }[]): boolean {
    return after.every((d, i) => {
      const wanted = next[i];
      return wanted !== undefined && (wanted.nodes === null || onlyGrows(d.nodes, wanted.nodes));
    });
  }

  #wait(text: string, streaming: boolean): void {
    if (!this.#late) {
      this.#host.ownerDocument.addEventListener("selectionchange", this.#retry);
    }
    this.#late = { text, streaming };
  }

  #retry = (): void => {
    if (this.#late) {
      this.update(this.#late.text, this.#late.streaming);
    }
  };

  #forgetLate(): void {
    this.#late = null;
    this.#host.ownerDocument.removeEventListener("selectionchange", this.#retry);
  }
}

function isSelected(nodes: readonly Node[]): boolean {
  const selection = nodes[0]?.ownerDocument?.getSelection();
  if (!selection || selection.isCollapsed || selection.rangeCount === 0) {
    return false;
  }
  const range = selection.getRangeAt(0);
  return nodes.some((n) => range.intersectsNode(n));
}
