// Markdown while it streams: however a text arrives, the page ends up with the same nodes;
// and what does not change is never touched.

import assert from "node:assert/strict";
import { test } from "node:test";
import { JSDOM } from "jsdom";
import { Marked } from "marked";
import { blocksOf, endedLength, isPlain, markdownOptions } from "../src/text/blocks.ts";
import { ProseEngine } from "../src/text/prose.ts";
import { dice } from "./world.ts";

const texts = [
  "One line.",
  "A paragraph\nof two lines.\n\nAnother, with *emphasis*, **strength**, `code` and [a link](https://example.org/a).\n",
  "# Title\n\nText\n\nSetext\n======\n\n---\n\n> quoted\n> on\n\nend",
  "- a\n- b\n\n- c, loose\n\n  more of c\n\n1. one\n2. two\n   - nested\n\ntext",
  "Code:\n\n```go\nfunc main() {\n\n\tprintln(\"*not emphasis*\")\n}\n```\n\nand after it.\n",
  "````md\n```\ninner\n```\n````\n\n~~~\ntilde\n~~~\n",
  "```\nnever closed\n\nstill code",
  "| a | b |\n|---|--:|\n| 1 | 2 |\n| 3 | `4 \\| 5` |\n\nAfter the table.\n",
  "Text\n| a | b |\n|---|---|\n| 1 | 2 |\n",
  "- item with code:\n\n  ```sh\n  ls -la\n  ```\n\n- next\n",
  "<script>alert(1)</script>\n\n<div onclick=\"x()\">raw <b>html</b></div>\n\ntext <img src=\"https://evil.example/x.png\" alt=\"pic\"> end\n",
  "line one\r\nline two\r\n\r\n- a\r\n- b\r\n",
  "    indented code\n\n    still\n\nnot any more\n",
  "ends in a marker ``",
  "a ~ b ` c",
  "1. a\n\n\n2. b\n\npara\n\n***bold and italic***\n- [ ] open\n- [x] done\n",
  "\n\n\nleading lines\n\n\n\nand gaps\n\n\n",
];

const dom = new JSDOM("<!doctype html><body></body>", { pretendToBeVisual: true });
const window = dom.window as unknown as Window & typeof globalThis;
const engine = new ProseEngine({ window, idle: () => undefined, copy: () => undefined });

function host(): HTMLElement {
  return window.document.body.appendChild(window.document.createElement("div"));
}

function atOnce(text: string): string {
  const el = host();
  engine.attach(el).update(text, false);
  return el.innerHTML;
}

test("every way to cut a text gives the nodes that it gives at once", () => {
  const roll = dice(7);
  for (const text of texts) {
    const want = atOnce(text);
    for (let round = 0; round < 3; round++) {
      const el = host();
      const view = engine.attach(el);
      const most = [6, 20, 60][round] ?? 1;
      for (let at = 0; at < text.length; at += 1 + roll(most)) {
        view.update(text.slice(0, at), true);
      }
      view.update(text, true);
      view.update(text, false);
      assert.equal(el.innerHTML, want, JSON.stringify(text));
    }
  }
});

const line = Array.from({ length: 2_500 }, (_, i) => `mule ${i}${i % 3 === 0 ? " -" : ""}`).join(" "); // 25 000 characters

test("a line that is too long to be laid out again with every word is paragraphs, the same ones however it arrives", () => {
  const want = atOnce(`Before.\n\n${line}\n\nBehind.`);
  const el = host();
  const view = engine.attach(el);
  const text = `Before.\n\n${line}\n\nBehind.`;
  for (let at = 0; at < text.length; at += 97) {
    view.update(text.slice(0, at), true);
  }
  view.update(text, false);
  assert.equal(el.innerHTML, want);
  const paragraphs = [...el.children].map((p) => p.textContent ?? "");
  assert.ok(paragraphs.length > 5 && paragraphs.every((p) => p.length < 4_100), `${paragraphs.map((p) => p.length)}`);
  assert.ok(paragraphs.join(" ") === `Before. ${line} Behind.`, "not a character is gone, and none became a mark");
});

test("what a chunk of an endless line changes is near its end", () => {
  const el = host();
  const view = engine.attach(el);
  view.update(line, true);
  const stand = [...el.children].slice(0, -2).map((p) => [p, p.firstChild]);
  const changed = new Set<Node>();
  const watch = new dom.window.MutationObserver((list) => list.forEach((r) => changed.add(r.target)));
  watch.observe(el, { subtree: true, childList: true, characterData: true });
  view.update(`${line} and one more`, true);
  watch.takeRecords().forEach((r) => changed.add(r.target));
  assert.equal(changed.size, 1);
  for (const [p, text] of stand) {
    assert.ok(p && text && p.isConnected && p.firstChild === text && !changed.has(text));
  }
});

test("a text without markup is what the parser makes of it, without the parser", () => {
  const roll = dice(11);
  const pieces = ["mule", "Ö", "7", " ", " ", ", ", ". ", ": ", "; ", "! ", "?", "'", '"', "(", ")", "%", "/", "//", "://", "www.", "-", "--", "…", "\n", "\n", "\n\n"];
  const markdown = new Marked(markdownOptions);
  let plain = 0;
  for (let round = 0; round < 3_000; round++) {
    const text = `mule${Array.from({ length: roll(9) }, () => pieces[roll(pieces.length)]).join("")}`;
    if (blocksOf(text).every((block) => isPlain(block.raw))) {
      const el = host();
      el.innerHTML = markdown.parse(text, { async: false }).replace(/\n(?=<|$)/g, "");
      assert.equal(atOnce(text), el.innerHTML, JSON.stringify(text));
      plain++;
    }
  }
  assert.ok(plain > 500, `${plain}`);
});

test("a long line of code, of a table or without a space stays the line that it is", () => {
  for (const text of [`\`\`\`js\n${line}\n\`\`\`\n`, `    ${line}\n`, `| a |\n|---|\n| ${line} |\n`, line.replaceAll(" ", "")]) {
    const el = host();
    engine.attach(el).update(text, false);
    el.querySelector<HTMLButtonElement>("button.more")?.click();
    const cell = el.querySelector("code, td, p");
    assert.equal(cell?.textContent, text.startsWith("mule0") ? text : line);
  }
});

/** The blocks of a text that draw something; blank lines behind them draw nothing. */
function drawn(text: string): string[] {
  return blocksOf(text).map((b) => b.raw.replace(/\n+$/, "")).filter((raw) => raw.trim() !== "");
}

test("a block that has ended is part of what the whole text has", () => {
  for (const text of texts.map((t) => t.replace(/\r\n?/g, "\n"))) {
    const whole = drawn(text);
    for (let at = 0; at <= text.length; at++) {
      const ended = endedLength(text.slice(0, at));
      const blocks = drawn(text.slice(0, ended));
      assert.deepEqual(blocks, whole.slice(0, blocks.length), JSON.stringify([text, at]));
    }
  }
});

test("a block that has ended stays the nodes that it is, also when the whole text comes", () => {
  const el = host();
  const view = engine.attach(el);
  const text = "First paragraph.\n\n```go\nx := 1\n```\n\nThird";
  view.update("First paragraph.\n\n```go\nx := 1\n``", true);
  const first = el.firstChild;
  view.update(text, true);
  const code = el.querySelector("code")?.firstChild;
  const tail = el.lastChild;
  view.update(text + " grows.", true);
  view.update(text + " grows.", false);
  assert.equal(el.firstChild, first);
  assert.equal(el.querySelector("code")?.firstChild, code);
  assert.equal(el.lastChild, tail);
});

test("a growing text node gets what it grew by", () => {
  const el = host();
  const view = engine.attach(el);
  view.update("Hello", true);
  const node = el.querySelector("p")?.firstChild;
  view.update("Hello, world", true);
  assert.equal(el.querySelector("p")?.firstChild, node);
  assert.equal(node?.textContent, "Hello, world");
});

test("a half fence marker and a half table row are held back", () => {
  const el = host();
  const view = engine.attach(el);
  view.update("Text\n\n``", true);
  assert.equal(el.textContent?.includes("`"), false);
  view.update("Text\n\n| a | b |", true);
  assert.equal(el.textContent?.includes("|"), false);
  view.update("Text\n\n| a | b |\n|---|---|\n| 1 ", true);
  assert.equal(el.querySelectorAll("tr").length, 1);
});

test("under a selection in the open end only growth happens; the rest follows when it is gone", () => {
  const el = host();
  const view = engine.attach(el);
  view.update("some *text", true);
  const p = el.querySelector("p") as HTMLElement;
  const selection = window.getSelection() as Selection;
  selection.selectAllChildren(p);
  view.update("some *text that grows", true);
  assert.equal(el.textContent, "some *text that grows");
  view.update("some *text* that", true);
  assert.equal(el.querySelector("em"), null, "the selected text was taken apart");
  selection.removeAllRanges();
  window.document.dispatchEvent(new window.Event("selectionchange"));
  assert.equal(el.querySelector("em")?.textContent, "text");
});

test("nothing of a text runs, loads or dresses up as the page", () => {
  const bad = [
    "<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "[a](javascript:alert(1))", "[b](data:text/html,x)",
    "<a href=\"vbscript:x\">c</a>", "<iframe src=\"https://evil.example\"></iframe>", "<style>*{display:none}</style>",
    "<div class=\"btn primary\" style=\"position:fixed\" id=\"page\">d</div>", "<form action=/x><input name=token type=password></form>",
    "<svg><script>1</script></svg>", "![e](https://evil.example/pixel.png)", "<base href=//evil.example>", "<button onclick=x()>f</button>",
    "<math><mtext></mtext></math>", "<p is=\"x-y\">g</p>", "<a href=\"https://ok.example\" target=_self>h</a>",
  ];
  const el = host();
  engine.attach(el).update(bad.join("\n\n"), false);
  for (const node of el.querySelectorAll("*")) {
    assert.ok(!["SCRIPT", "IFRAME", "STYLE", "IMG", "FORM", "SVG", "BASE", "MATH"].includes(node.nodeName.toUpperCase()), node.nodeName);
    for (const { name, value } of node.attributes) {
      assert.ok(!name.startsWith("on") && !["style", "id", "name", "is", "src", "srcset"].includes(name), `${node.nodeName} ${name}`);
      if (name === "href") {
        assert.match(value, /^(https?:|mailto:)/);
        assert.equal(node.getAttribute("rel"), "noopener noreferrer");
        assert.equal(node.getAttribute("target"), "_blank");
      }
      if (name === "class") {
        assert.match(value, /^(language-|hljs-|src$|btn quiet small$)/);
      }
    }
  }
  assert.match(el.textContent ?? "", /image: e \(evil\.example\)/);
});

test("HTML and links that lead nowhere are shown as they were written, nothing of them is gone", () => {
  for (const text of [
    "<script>alert(1)</script>", "<div onclick=\"x()\">raw <b>html</b> and &lt;more&gt;</div>", "<style>a{b:c}</style>", "a <!-- note --> b",
    "text <img src=\"https://evil.example/x.png\"> end", "[a](javascript:alert(1))", "[b](data:text/html,<b>1</b>)", "<iframe srcdoc='<i>'></iframe>",
  ]) {
    const el = host();
    engine.attach(el).update(text, false);
    assert.equal(el.textContent, text.replace("&lt;more&gt;", "<more>"));
  }
  const el = host();
  engine.attach(el).update("| a |\n|---|\n| one<br>two |\n", false);
  assert.equal(el.querySelectorAll("td br").length, 1);
});

test("text nested deeper than a parser can go is shown, and takes nobody down", () => {
  const el = host();
  const list = Array.from({ length: 300 }, (_, i) => `${" ".repeat(i * 2)}- x`).join("\n");
  engine.attach(el).update(`${">".repeat(5_000)} deep\n\n${list}\n`, false);
  assert.ok((el.textContent ?? "").includes("deep"));
});

test("a block that would take a parser long is shown as it is", () => {
  for (const text of ["_a_".repeat(5_000), "x".repeat(60_000), "*a ".repeat(20_000)]) {
    const el = host();
    engine.attach(el).update(text, false);
    el.querySelector<HTMLButtonElement>("button.more")?.click(); // a word without end
    assert.equal(el.textContent, text.trim());
  }
});

test("code is coloured when its block has ended, and only then", () => {
  const work: (() => void)[] = [];
  const colouring = new ProseEngine({ window, idle: (w) => work.push(w), copy: () => undefined });
  const el = host();
  const view = colouring.attach(el);
  view.update("```go\nfunc x() {}\n", true);
  assert.equal(work.length, 0);
  view.update("```go\nfunc x() {}\n```\n\nend", true);
  work.splice(0).forEach((w) => w());
  assert.equal(el.querySelector(".hljs-keyword")?.textContent, "func");
  assert.equal(el.querySelector("code")?.textContent, "func x() {}");
  const coloured = el.querySelector("code")?.innerHTML;
  view.update("```go\nfunc x() {}\n```\n\nend", false);
  assert.equal(el.querySelector("code")?.innerHTML, coloured);
});

const long = "x".repeat(3_000);

test("of a line of code, and of a word, that is over 2 000 characters the beginning is drawn until all is asked for", () => {
  for (const [text, whole] of [["```\na\n" + "y ".repeat(3_000) + "\nb\n```\n", "a\n" + "y ".repeat(3_000) + "\nb"], [`see ${long} and *on*`, `see ${long} and on`]] as const) {
    const el = host();
    engine.attach(el).update(text, false);
    const shown = (el.querySelector("code") ?? el.querySelector("p")) as HTMLElement;
    const more = shown.querySelector<HTMLButtonElement>("button.more");
    assert.match(more?.textContent ?? "", /^… Show all [36]\u202fkB$/);
    assert.ok((shown.textContent ?? "").length < 2_100);
    more?.click();
    assert.equal(shown.textContent, whole);
  }
});

test("a text that wraps between its words is drawn whole, however long its lines are", () => {
  const text = "Thought. ".repeat(400).trim();
  const el = host();
  engine.attach(el).update(text, false);
  assert.equal(el.textContent, text);
});

test("a copy of code that is cut on the screen is whole, also of what came while it was there", () => {
  const copied: string[] = [];
  const el = host();
  const view = new ProseEngine({ window, idle: () => undefined, copy: (text) => copied.push(text) }).attach(el);
  for (const n of [1_000, 3_000, 4_000]) {
    view.update("```\n" + "z".repeat(n), true);
  }
  el.querySelector("button")?.click();
  view.update("```\n" + "z".repeat(5_000) + "\n```\n", false);
  el.querySelector("button")?.click();
  assert.deepEqual(copied.map((text) => text.length), [4_000, 5_000]);
  el.querySelector<HTMLButtonElement>("button.more")?.click();
  assert.equal(el.querySelector("code")?.textContent?.length, 5_000);
});

test("a long link leads to where it leads, and no character is cut in two", () => {
  const el = host();
  engine.attach(el).update(`https://example.org/${long}\n\n${"x".repeat(1_999)}${"🙂".repeat(20)}`, false);
  assert.equal(el.querySelector("a")?.href, `https://example.org/${long}`);
  assert.ok((el.querySelector("a")?.textContent ?? "").length < 2_100);
  assert.equal(el.querySelectorAll("p")[1]?.firstChild?.textContent, "x".repeat(1_999));
});
