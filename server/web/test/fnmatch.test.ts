// The page's tester says what the server will do: both are held to one table.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { allowedBy, fnmatch } from "../src/text/fnmatch.ts";

const folder = "../../turn/tool/policy/testdata";

/** Reads a string that Go quoted; null when it is no UTF-8, which no browser has. */
function unquote(quoted: string): string | null {
  const bytes: number[] = [];
  const simple: Record<string, number> = { a: 7, b: 8, f: 12, n: 10, r: 13, t: 9, v: 11, "\\": 92, '"': 34, "'": 39 };
  const body = quoted.slice(1, -1);
  for (const [part] of body.matchAll(/\\x..|\\u.{4}|\\U.{8}|\\[0-7]{3}|\\.|[^\\]/gsu)) {
    if (!part.startsWith("\\")) {
      bytes.push(...Buffer.from(part));
    } else if (part[1] === "x") {
      bytes.push(parseInt(part.slice(2), 16));
    } else if (part[1] === "u" || part[1] === "U") {
      bytes.push(...Buffer.from(String.fromCodePoint(parseInt(part.slice(2), 16))));
    } else if (/[0-7]{3}/.test(part)) {
      bytes.push(parseInt(part.slice(1), 8));
    } else {
      bytes.push(simple[part[1] as string] ?? assert.fail(part));
    }
  }
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(Uint8Array.from(bytes));
  } catch {
    return null;
  }
}

for (const file of ["fnmatch-cases.tsv", "fnmatch-fuzz.tsv"]) {
  test(`the matcher agrees with ${file}`, () => {
    let rows = 0;
    for (const line of readFileSync(`${folder}/${file}`, "utf8").split("\n")) {
      const [pattern, name, matches] = line.split("\t");
      if (line.startsWith("#") || pattern === "pattern" || !pattern || !name) {
        continue;
      }
      const [p, n] = [unquote(pattern), unquote(name)];
      if (p === null || n === null) {
        continue;
      }
      rows++;
      assert.equal(fnmatch(p, n), matches === "true", line);
    }
    assert.ok(rows > 400, `only ${rows} rows were read`);
  });
}

test("the first pattern that allows a tool is named", () => {
  assert.equal(allowedBy(["Read", "mcp__*"], "mcp__git__diff"), "mcp__*");
  assert.equal(allowedBy(["Read"], "Bash"), null);
});
