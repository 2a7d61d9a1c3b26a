// The stylesheet keeps the contrast that the tokens promise, in both themes.

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { gzipSync } from "node:zlib";

const css = readFileSync("src/style/tokens.css", "utf8");

/** [light, dark] of a token, as linear RGB needs them: 0 to 255. */
function token(name: string): [number[], number[]] {
  const found = new RegExp(`--${name}: light-dark\\((#[0-9a-f]{6}), (#[0-9a-f]{6})\\)`).exec(css);
  assert.ok(found, `no token --${name} with two colours`);
  return [rgb(found[1] ?? ""), rgb(found[2] ?? "")];
}

function rgb(hex: string): number[] {
  return [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16));
}

/** Relative luminance and contrast ratio, as WCAG 2 defines them. */
function luminance(colour: number[]): number {
  const [r = 0, g = 0, b = 0] = colour.map((c) => (c / 255 <= 0.04045 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function ratio(a: number[], b: number[]): number {
  const [x, y] = [luminance(a), luminance(b)];
  return (Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05);
}

// What stands on what, and the least ratio in light and in dark.
const promised: readonly [string, string, number, number][] = [
  ["text", "selected", 14.2, 12.5], ["muted", "selected", 6, 6.3], ["faint", "selected", 4.6, 4.5],
  ["accent", "sunken", 5.8, 8.2], ["accent", "surface", 5.8, 8.2], ["on-accent", "accent", 6.4, 8.1], ["accent", "accent-soft", 5.6, 7.3],
  ["attn", "attn-soft", 6.4, 8.9], ["attn-line", "bg", 3.5, 4.8], ["danger", "danger-soft", 5.7, 7.4], ["ok", "sunken", 5.7, 10.2],
  ["add-fg", "add", 7.9, 10.4], ["del-fg", "del", 8.5, 9.5], ["line-strong", "bg", 3.2, 3.8], ["line-strong", "surface", 3.2, 3.8],
];

for (const [front, back, light, dark] of promised) {
  test(`--${front} on --${back} keeps its contrast in both themes`, () => {
    const [f, b] = [token(front), token(back)];
    assert.ok(ratio(f[0], b[0]) >= light, `light ${ratio(f[0], b[0]).toFixed(2)}, want ${light}`);
    assert.ok(ratio(f[1], b[1]) >= dark, `dark ${ratio(f[1], b[1]).toFixed(2)}, want ${dark}`);
  });
}

test("text is at least 4.5 to 1 on every ground that it stands on", () => {
  for (const front of ["text", "muted", "faint", "accent", "danger", "ok", "attn"]) {
    for (const back of ["bg", "surface", "sunken", "hunk"]) {
      const [f, b] = [token(front), token(back)];
      assert.ok(ratio(f[0], b[0]) >= 4.5, `light: ${front} on ${back} is ${ratio(f[0], b[0]).toFixed(2)}`);
      assert.ok(ratio(f[1], b[1]) >= 4.5, `dark: ${front} on ${back} is ${ratio(f[1], b[1]).toFixed(2)}`);
    }
  }
});

test("changed words stand out from their line and stay readable", () => {
  for (const [front, back] of [["add-fg", "add-word"], ["del-fg", "del-word"]] as const) {
    const [f, b] = [token(front), token(back)];
    assert.ok(ratio(f[0], b[0]) >= 4.5 && ratio(f[1], b[1]) >= 4.5, `${front} on ${back}`);
  }
});

test("colours are tokens: no other stylesheet has one of its own", () => {
  for (const name of readdirSync("src/style").filter((n) => n.endsWith(".css") && n !== "tokens.css")) {
    const own = readFileSync(`src/style/${name}`, "utf8").match(/#[0-9a-f]{3,8}\b/gi) ?? [];
    const shades = own.filter((c) => !["#0002", "#1413124d"].includes(c)); // a shadow and a backdrop
    assert.deepEqual(shades, [], name);
  }
});

test("the style is at most 10 KB, gzipped", () => {
  const all = readdirSync("src/style").filter((n) => n.endsWith(".css") && n !== "index.css").map((n) => readFileSync(`src/style/${n}`, "utf8")).join("");
  const small = gzipSync(all.replace(/\/\*.*?\*\//gs, "").replace(/\s+/g, " ")).length;
  assert.ok(small <= 10_000, `${small} bytes`);
});

test("no component sets a style attribute: the policy forbids them", () => {
  const files = readdirSync("src/ui", { recursive: true, encoding: "utf8" }).filter((n) => n.endsWith(".tsx"));
  assert.ok(files.length > 20);
  for (const name of files) {
    assert.doesNotMatch(readFileSync(`src/ui/${name}`, "utf8"), /\sstyle=/, name);
  }
});
