// What stands on the page, in a browser: marks, menus, what is cut and what leads where.
//
//   npm run rules

import assert from "node:assert/strict";
import { test } from "node:test";
import { open } from "./stage.mjs";

test("of the themes one is chosen, and the single-letter keys are switched", async (t) => {
  const { page } = await open(t, "ended");
  const menu = page.getByRole("button", { name: "Account and theme" });
  await menu.click();
  const keys = page.getByRole("menuitemcheckbox");
  assert.deepEqual(await keys.allInnerTexts(), ["Single-letter keys"]);
  assert.equal(await page.getByRole("menuitemradio").count(), 3);
  assert.equal(await keys.getAttribute("aria-checked"), "true");
  await keys.click();
  await menu.click();
  assert.equal(await keys.getAttribute("aria-checked"), "false");
});

test("a text that a run read on its way has its time below it, and no word of ours", async (t) => {
  const { page } = await open(t, "ended");
  await page.evaluate(() => {
    const { timeline } = globalThis.stage;
    timeline.value = { ...timeline.value, items: timeline.value.items.map((item) => (item.is === "user" ? { ...item, injected: true, attempt: null } : item)) };
  });
  await page.getByRole("button", { name: "Edit and branch" }).waitFor({ state: "detached" }); // it is none of its own
  assert.match(await page.locator(".e .acts").first().innerText(), /^\s*\d\d:\d\d\s*$/);
});

test("a fork says at its top what it was forked from, and leads there while that is there", async (t) => {
  const { page } = await open(t, "forked");
  const mark = page.locator("[role=log] .mark").first();
  assert.match(await mark.innerText(), /^Forked from Explain the WAL checkpoint stalls$/);
  await mark.getByRole("link").click();
  await page.locator(".head h1", { hasText: "Explain the WAL checkpoint stalls" }).waitFor();
  const { page: other } = await open(t, "orphan");
  const gone = other.locator("[role=log] .mark").first();
  assert.match(await gone.innerText(), /^Forked from 5f2c9a01d4e7b3ff$/);
  assert.equal(await gone.getByRole("link").count(), 0);
});

test("the title of a hit ends where the list does", async (t) => {
  const { page } = await open(t, "ended");
  await page.evaluate(() => {
    const { app } = globalThis.stage;
    const row = { ...app.value.rows.get("wal"), title: "Explain the stalls of the checkpoint ".repeat(4) };
    app.value = { ...app.value, rows: new Map(app.value.rows).set("wal", row) };
  });
  await page.fill("#search", "checkpoint of a page");
  await page.locator(".hit b").waitFor();
  const [title, hit] = await page.evaluate(() => [".hit b", ".hit"].map((s) => document.querySelector(s).getBoundingClientRect().right));
  assert.ok(title <= hit, `${title} is beyond ${hit}`);
});

test("what a failed call says is read without scrolling sideways", async (t) => {
  const { page } = await open(t, "ended");
  await page.evaluate(() => {
    const { timeline } = globalThis.stage;
    const group = timeline.value.items.find((item) => item.is === "group");
    const call = { ...group.calls[0], key: "f", state: "failed", output: "the file is as it was: the text stands in it several times, add what is around it. ".repeat(4), display: { kind: "tool", is_error: true } };
    timeline.value = { ...timeline.value, items: [call] };
  });
  const pane = page.locator(".tool .pane[aria-label=Output]");
  await pane.waitFor();
  assert.ok(await pane.evaluate((e) => e.scrollWidth <= e.clientWidth));
});

test("from a session that is gone a phone goes to the list, a wide page to another session", async (t) => {
  const { page } = await open(t, "absent", { there: ".center" });
  await page.waitForTimeout(200);
  await page.setViewportSize({ width: 390, height: 800 });
  await page.locator(".center").getByText("All sessions").click();
  await page.locator(".side .row").first().waitFor();
  assert.equal(await page.locator(".center").isVisible(), false);
  const { page: wide } = await open(t, "absent", { there: ".center" });
  await wide.locator(".center").getByText("All sessions").click();
  await wide.getByText("This session does not exist (any more).").waitFor({ state: "detached" });
});

test("a session opens with what fills the screen; the rest comes in above, and the end stays in view", async (t) => {
  const { page } = await open(t, "long", { first: () => {
    globalThis.shots = [];
    const look = () => {
      const box = document.querySelector(".main .scroll");
      const entries = document.querySelectorAll(".e").length;
      if (entries > 0) {
        const rest = box.scrollHeight - box.scrollTop - box.clientHeight;
        globalThis.shots.push({ entries, rest, fills: box.scrollHeight > box.clientHeight, end: [...document.querySelectorAll(".e")].at(-1).getBoundingClientRect().top });
      }
    };
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = look; // behind the paint of a frame
    const frame = () => {
      port2.postMessage(0);
      requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
  } });
  await page.waitForFunction(() => globalThis.shots.at(-1)?.entries === 200);
  const frames = await page.evaluate(() => globalThis.shots);
  for (const [i, f] of frames.entries()) {
    assert.ok(f.fills && f.rest < 2 && Math.abs(f.end - frames[0].end) < 1, `frame ${i}: ${JSON.stringify([frames[0], f])}`);
    assert.ok(f.entries - (frames[i - 1]?.entries ?? 0) < 60, `frame ${i}: ${f.entries} entries`);
  }
});

test("a delta draws the entry that it is of, and none of the other two hundred", async (t) => {
  const { page } = await open(t, "long");
  await page.waitForFunction(() => document.querySelectorAll(".e").length === 200);
  const changes = await page.evaluate(async () => {
    const { timeline } = globalThis.stage;
    let drawn = 0;
    const watch = new MutationObserver((list) => (drawn += list.length));
    watch.observe(document.querySelector(".main .scroll"), { subtree: true, childList: true, characterData: true, attributes: true });
    const items = [...timeline.value.items];
    const last = items.at(-1);
    items[items.length - 1] = { ...last, text: last.text + " more" };
    timeline.value = { ...timeline.value, items };
    await new Promise((r) => requestAnimationFrame(() => setTimeout(r, 0)));
    return drawn;
  });
  assert.ok(changes < 10, `${changes} changes in the document`);
});
