// Markup of others → nodes that do nothing but show. Never a string into the page.

import createDOMPurify, { type DOMPurify } from "dompurify";

const tags = [
  "a", "b", "blockquote", "br", "code", "dd", "del", "details", "div", "dl", "dt", "em", "h1", "h2", "h3", "h4", "h5", "h6",
  "hr", "i", "img", "input", "ins", "kbd", "li", "mark", "ol", "p", "pre", "q", "s", "samp", "span", "strong", "sub",
  "summary", "sup", "table", "tbody", "td", "tfoot", "th", "thead", "tr", "u", "ul", "var",
];
const attributes = ["href", "title", "alt", "src", "start", "align", "colspan", "rowspan", "class", "type", "checked", "disabled"];

export interface Sanitiser {
  /** Markdown's markup */
  prose(markup: string): DocumentFragment;
  /** the highlighter's markup */
  code(markup: string): DocumentFragment;
}

export function createSanitiser(window: Window & typeof globalThis): Sanitiser {
  const purify = createDOMPurify(window) as DOMPurify;
  purify.addHook("afterSanitizeAttributes", disarm);
  const config = { ALLOW_DATA_ATTR: false, ALLOW_ARIA_ATTR: false, RETURN_DOM_FRAGMENT: true } as const;
  return {
    prose(markup) {
      const nodes = purify.sanitize(markup, {
        ...config, ALLOWED_TAGS: tags, ALLOWED_ATTR: attributes, ALLOWED_URI_REGEXP: /^(?:https?:|mailto:)/i,
      });
      links(nodes);
      return nodes;
    },
    code: (markup) => purify.sanitize(markup, { ...config, ALLOWED_TAGS: ["span"], ALLOWED_ATTR: ["class"] }),
  };
}

/**
 * Runs where nothing loads yet: a picture must not ask anybody for itself. A class may only
 * name a language or a part of code, so that no text dresses up as a part of the page.
 */
function disarm(node: Element): void {
  if (node.nodeName === "IMG") {
    node.setAttribute("title", node.getAttribute("src") ?? "");
    node.removeAttribute("src");
  }
  if (node.nodeName === "INPUT") {
    // A task's box: shown, not to be used. Any other field asks for what it must not get.
    if (node.getAttribute("type") === "checkbox") {
      node.setAttribute("disabled", "");
    } else {
      node.remove();
    }
  }
  const named = node.getAttribute("class");
  if (named !== null && !/^(?:language-|hljs-)[\w+#.-]+(?: (?:hljs-)?[\w-]+_?)*$/.test(named)) {
    node.removeAttribute("class");
  }
}

/** Links lead out of the page and tell nothing of it; pictures become links; the rest is text. */
function links(nodes: DocumentFragment): void {
  for (const image of nodes.querySelectorAll("img")) {
    const src = image.getAttribute("title") ?? "";
    const label = `image: ${image.getAttribute("alt") || "no description"}${host(src)}`;
    const link = image.ownerDocument.createElement("a");
    link.textContent = label;
    if (/^https?:/i.test(src)) {
      link.setAttribute("href", src);
    }
    image.replaceWith(link);
  }
  for (const link of nodes.querySelectorAll("a")) {
    if (!link.getAttribute("href") || link.parentElement?.closest("a")) {
      link.replaceWith(...link.childNodes);
      continue;
    }
    link.setAttribute("rel", "noopener noreferrer");
    link.setAttribute("target", "_blank");
  }
}

function host(src: string): string {
  try {
    return ` (${new URL(src).host || "in the text"})`;
  } catch {
    return "";
  }
}
