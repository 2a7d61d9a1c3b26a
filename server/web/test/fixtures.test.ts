// The golden fixtures that Go wrote, read by the parser that Go generated.

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { ClientType, parseEntry, parseFrame, ServerType } from "../src/protocol.gen.ts";
import { itemOf } from "../src/state/item.ts";
import { initialState, reduce } from "../src/state/reduce.ts";

// Tests run from server/web.
const folder = "../project/testdata/fixtures";
const names = readdirSync(folder).filter((n) => n.endsWith(".json"));
const read = (name: string) => readFileSync(`${folder}/${name}`, "utf8");

test("there are fixtures of every kind", () => {
  for (const kind of ["client.", "entry.", "server.", "unknown."]) {
    assert.ok(names.some((n) => n.startsWith(kind)), kind);
  }
  for (const type of Object.values(ServerType)) {
    assert.ok(names.some((n) => n.startsWith(`server.${type}`)), `no fixture of ${type}`);
  }
});

for (const name of names) {
  test(`the fixture ${name} is read as what it is`, () => {
    const text = read(name);
    if (name.startsWith("client.")) {
      const frame = JSON.parse(text) as { type: string };
      assert.ok(Object.values<string>(ClientType).includes(frame.type));
    } else if (name.startsWith("entry.")) {
      assert.equal(parseEntry(JSON.parse(text)).is, "known");
    } else if (name.startsWith("server.")) {
      assert.equal(parseFrame(text).is, "known");
    } else {
      unknown(name, text);
    }
  });
}

/** What this version does not know degrades and is never dropped in silence. */
function unknown(name: string, text: string): void {
  const value = JSON.parse(text) as { payload?: { entry?: unknown }; kind?: string; id?: string };
  if (value.id !== undefined) {
    const parsed = parseEntry(value);
    assert.notEqual(parsed.is, "malformed");
    if (parsed.is !== "malformed") {
      assert.notEqual(itemOf(parsed.entry, false), null, "an unknown entry is drawn");
    }
    return;
  }
  const parsed = parseFrame(text);
  assert.notEqual(parsed.is, "malformed", name);
  const state = reduce(initialState(), { is: "frame", text });
  assert.equal(state.malformedFrames, 0);
  if (parsed.is === "unknown") {
    assert.equal(state.unknownFrames, 1);
  }
}
