// The rules of section 6 of the page's brief, in a browser: what a stray key must not do,
// who scrolls, and when a text leaves its box.
//
//   npm run rules

import assert from "node:assert/strict";
import { test } from "node:test";
import { open } from "./stage.mjs";

const guard = 600; // ms: the guard of an approval, and a little

test("keys meant for the text decide nothing when an approval arrives", async (t) => {
  const { page, done } = await open(t, "approval");
  await page.evaluate(() => {
    const { app, timeline } = globalThis.stage;
    globalThis.asked = [timeline.value, app.value];
    timeline.value = { ...timeline.value, items: timeline.value.items.slice(0, -1) };
  });
  await page.focus("#message");
  await page.keyboard.type("a d");
  await page.evaluate(() => (globalThis.stage.timeline.value = globalThis.asked[0]));
  await page.waitForSelector(".ask");
  await page.waitForTimeout(guard);
  await page.keyboard.type(" a d");
  await page.keyboard.press("Space");
  assert.equal(await page.evaluate(() => document.activeElement.id), "message", "the focus stays where it was");
  assert.equal(await page.inputValue("#message"), "a d a d ");
  await page.evaluate(() => document.activeElement.blur());
  await page.keyboard.press("a");
  await page.keyboard.press("d");
  await page.keyboard.press("Enter");
  assert.deepEqual(await done("approve"), []);
  assert.deepEqual(await done("deny"), []);
});

test("a verdict counts only when the card has stood still for half a second", async (t) => {
  const { page, done } = await open(t, "approval");
  await page.evaluate(async () => {
    const { timeline } = globalThis.stage;
    const all = timeline.value;
    timeline.value = { ...all, items: all.items.slice(0, -1) };
    await new Promise((r) => setTimeout(r, 50));
    timeline.value = all;
    await new Promise((r) => setTimeout(r, 50));
    document.querySelector(".ask .btn.primary").click();
  });
  assert.deepEqual(await done("approve"), [], "it has just appeared");
  await page.waitForTimeout(guard);
  await page.evaluate(() => {
    document.querySelector(".ask").style.marginTop = "40px";
    document.querySelector(".ask .btn.primary").click();
  });
  assert.deepEqual(await done("approve"), [], "it has just moved");
  await page.waitForTimeout(guard);
  await page.click(".ask .btn.primary");
  assert.equal((await done("approve")).length, 1);
  assert.match(await page.textContent(".ask"), /Approving…/, "the card waits for the wire");
  await page.click(".ask .btn.primary", { force: true });
  assert.equal((await done("approve")).length, 1);
});

test("A and D work inside the card, and not in the field for a reason", async (t) => {
  const { page, done } = await open(t, "approval");
  await page.waitForTimeout(guard);
  await page.evaluate(() => document.activeElement.blur());
  await page.keyboard.press(".");
  assert.ok(await page.evaluate(() => document.activeElement.matches(".ask")), "the key goes to the card, not to a button");
  await page.waitForTimeout(guard);
  await page.getByText("Deny with a reason…").click();
  await page.keyboard.type("add a test, d");
  assert.deepEqual(await done("deny"), []);
  await page.keyboard.press("Escape");
  await page.focus(".ask");
  await page.waitForTimeout(guard);
  await page.keyboard.press("d");
  assert.equal((await done("deny")).length, 1);
});

test("the focus inside a decided card goes to the card of its call", async (t) => {
  const { page } = await open(t, "approval");
  await page.focus(".ask .btn.primary");
  await page.evaluate(() => {
    const { timeline } = globalThis.stage;
    const items = timeline.value.items.map((i) => (i.state === "standing" ? { ...i, state: "running", standing: null } : i));
    timeline.value = { ...timeline.value, items };
  });
  await page.waitForFunction(() => !document.querySelector(".ask"));
  await page.waitForFunction(() => document.activeElement.matches(".tool > header > button"));
});

/** Streams lines into the last item. */
const grow = (page, n) => page.evaluate(async (lines) => {
  const { timeline } = globalThis.stage;
  for (let i = 0; i < lines; i++) {
    const items = [...timeline.value.items];
    const last = items[items.length - 1];
    items[items.length - 1] = { ...last, text: last.text + `\n\nA line more, number ${i}.` };
    timeline.value = { ...timeline.value, items };
    await new Promise((r) => requestAnimationFrame(r));
  }
}, n);
const place = (page) => page.evaluate(() => {
  const box = document.querySelector(".main .scroll");
  return { top: box.scrollTop, rest: box.scrollHeight - box.scrollTop - box.clientHeight };
});

test("a reader at the end stays there; one notch up, and nothing moves", async (t) => {
  const { page } = await open(t, "running");
  await page.waitForTimeout(200);
  await grow(page, 20);
  assert.ok((await place(page)).rest < 2, "pinned");
  await page.mouse.move(700, 300);
  await page.mouse.wheel(0, -40);
  await page.waitForTimeout(150);
  const { top } = await place(page);
  await grow(page, 40);
  await page.waitForTimeout(150);
  const later = await place(page);
  assert.equal(later.top, top);
  assert.ok(later.rest > 500);
  await page.click(".jump");
  await page.waitForTimeout(150);
  await grow(page, 5);
  assert.ok((await place(page)).rest < 2, "pinned again");
});

test("a selection in the timeline unpins, and survives the stream", async (t) => {
  const { page } = await open(t, "running");
  await page.waitForTimeout(200);
  await page.evaluate(() => {
    const text = [...document.querySelectorAll(".prose p")].at(-1).firstChild;
    document.getSelection().setBaseAndExtent(text, 0, text, 7);
  });
  await page.waitForTimeout(50);
  const { top } = await place(page);
  const chosen = await page.evaluate(() => String(document.getSelection()));
  await grow(page, 20);
  assert.equal((await place(page)).top, top);
  assert.equal(await page.evaluate(() => String(document.getSelection())), chosen);
});

test("what streams into a closed run does not close what the reader opened", async (t) => {
  const { page } = await open(t, "running");
  const fold = page.locator(".reason > button");
  await fold.click();
  await grow(page, 3);
  assert.equal(await fold.getAttribute("aria-expanded"), "true");
});

test("a text stays, locked, until the server has it", async (t) => {
  const { page, done } = await open(t, "running");
  await page.fill("#message", "keep it short");
  await page.press("#message", "Enter");
  await page.waitForFunction(() => document.querySelector("#message").readOnly);
  assert.equal(await page.inputValue("#message"), "keep it short");
  assert.deepEqual((await done("queue")).map(([, , queue, text]) => [queue, text]), [["steer", "keep it short"]]);
});

test("a text that was accepted leaves the box; Ctrl+Enter queues as follow-up", async (t) => {
  const { page, done } = await open(t, "running");
  await page.evaluate(() => (globalThis.stage.answer.queue = { ok: true, value: undefined }));
  await page.fill("#message", "then this");
  await page.press("#message", "Control+Enter");
  await page.waitForFunction(() => document.querySelector("#message").value === "");
  assert.equal((await done("queue"))[0][2], "follow_up");
});

test("a refused text is back, with the reason below", async (t) => {
  const { page } = await open(t, "ended");
  await page.evaluate(() => (globalThis.stage.answer.start = { ok: false, code: "config_error", status: 400, message: "no model answers" }));
  await page.fill("#message", "go on");
  await page.press("#message", "Enter");
  await page.waitForFunction(() => document.querySelector("#why-not")?.textContent.includes("The agent cannot start: no model answers"));
  assert.equal(await page.inputValue("#message"), "go on");
  assert.equal(await page.evaluate(() => document.querySelector("#message").readOnly), false);
});

test("what was not confirmed is sent again under the same key", async (t) => {
  const { page, done } = await open(t, "ended");
  await page.evaluate(() => (globalThis.stage.answer.start = { ok: false, code: "unreachable", status: 0, message: "" }));
  await page.fill("#message", "go on");
  await page.press("#message", "Enter");
  await page.getByText("Not confirmed. It may have arrived.").waitFor();
  await page.getByText("Send again").click();
  await page.waitForFunction(() => globalThis.stage.done.filter(([n]) => n === "start").length === 2);
  const [first, second] = await done("start");
  assert.deepEqual(first, second);
});

test("Enter on what was not confirmed sends the same again, whatever runs by now", async (t) => {
  const { page, done } = await open(t, "ended");
  await page.evaluate(() => (globalThis.stage.answer.start = { ok: false, code: "unreachable", status: 0, message: "" }));
  await page.fill("#message", "go on");
  await page.press("#message", "Enter");
  await page.getByText("Not confirmed. It may have arrived.").waitFor();
  await page.evaluate(() => {
    const { app } = globalThis.stage; // a run has begun: perhaps that of the text
    const row = { ...app.value.rows.get("main"), status: "running", live_run_id: "r9" };
    app.value = { ...app.value, rows: new Map(app.value.rows).set("main", row) };
  });
  await page.locator("#stop").waitFor();
  await page.press("#message", "Enter");
  await page.waitForFunction(() => globalThis.stage.done.filter(([n]) => n === "start").length === 2);
  const [first, second] = await done("start");
  assert.deepEqual(first, second);
  assert.deepEqual(await done("queue"), []);
});

test("Enter of an input method, and Shift+Enter, send nothing", async (t) => {
  const { page, done } = await open(t, "running");
  await page.fill("#message", "かな");
  await page.evaluate(() => {
    const box = document.querySelector("#message");
    box.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", isComposing: true, bubbles: true, cancelable: true }));
    box.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", keyCode: 229, bubbles: true, cancelable: true }));
  });
  await page.press("#message", "Shift+Enter");
  assert.deepEqual(await done("queue"), []);
});

test("without a connection writing goes on, and nothing is sent or decided", async (t) => {
  const { page, done } = await open(t, "offline");
  await page.fill("#message", "written on a train");
  await page.press("#message", "Enter");
  assert.equal(await page.inputValue("#message"), "written on a train");
  await page.click("#stop", { force: true });
  assert.deepEqual([...(await done("queue")), ...(await done("start")), ...(await done("stop"))], []);
});

test("Escape never stops a run", async (t) => {
  const { page, done } = await open(t, "running");
  await page.focus("#message");
  await page.keyboard.press("Escape");
  await page.keyboard.press("Escape");
  assert.deepEqual(await done("stop"), []);
  await page.keyboard.press("Control+.");
  await page.waitForFunction(() => globalThis.stage.done.some(([n]) => n === "stop"));
  assert.match(await page.textContent("#stop"), /Stopping…/);
});

test("a menu is used by keys alone, and hands the focus back", async (t) => {
  const { page } = await open(t, "running");
  await page.focus('[aria-label="Stop options"]');
  await page.keyboard.press("Enter");
  await page.keyboard.press("ArrowDown");
  assert.match(await page.evaluate(() => document.activeElement.textContent), /Finish this step/);
  await page.keyboard.press("Escape");
  assert.equal(await page.evaluate(() => document.activeElement.getAttribute("aria-label")), "Stop options");
});

test("deleting asks first, by name", async (t) => {
  const { page, done } = await open(t, "ended");
  await page.click('.head [aria-label="More"]');
  await page.getByRole("menuitem", { name: "Delete" }).click();
  await page.getByText("Delete “Fix the flaky replay test”?").waitFor();
  await page.keyboard.press("Escape");
  assert.deepEqual(await done("remove"), []);
});

test("a page of earlier entries comes in above without moving what is read", async (t) => {
  const { page } = await open(t, "long");
  await page.waitForTimeout(200);
  assert.ok((await place(page)).rest < 2, "it opens at the end");
  await page.mouse.move(700, 300);
  for (let i = 0; i < 40 && (await page.locator(".e").count()) < 400; i++) {
    await page.mouse.wheel(0, -20_000);
    await page.waitForTimeout(200);
    assert.ok((await page.locator(".e").count()) <= 400);
  }
  const read = () => page.evaluate(() => {
    const box = document.querySelector(".main .scroll").getBoundingClientRect();
    const e = [...document.querySelectorAll(".e")].find((x) => x.getBoundingClientRect().bottom > box.top + 40);
    return [e.dataset.key, Math.round(e.getBoundingClientRect().top)];
  });
  await page.waitForTimeout(300);
  const before = await read();
  await page.evaluate(() => {
    const { timeline } = globalThis.stage;
    const first = timeline.value.items[0];
    const more = Array.from({ length: 100 }, (_, i) => ({ ...first, key: `older${i}`, text: `An older text, number ${i}.`, entry: { ...first.entry, id: `older${i}` } }));
    timeline.value = { ...timeline.value, items: [...more, ...timeline.value.items] };
  });
  await page.waitForTimeout(300);
  const [key, top] = await read();
  assert.equal(key, before[0]);
  assert.ok(Math.abs(top - before[1]) <= 2, `${before[1]} became ${top}`);
});

test("opening an address with an entry shows and marks it", async (t) => {
  const { page } = await open(t, "found");
  await page.waitForSelector(".e.found");
  await page.waitForTimeout(200);
  const at = await page.evaluate(() => {
    const box = document.querySelector(".main .scroll").getBoundingClientRect();
    return (document.querySelector(".e.found").getBoundingClientRect().top - box.top) / box.height;
  });
  assert.ok(at > 0.25 && at < 0.42, `at ${at.toFixed(2)} of the height`);
});

test("the strip tells of an approval only while it is out of view", async (t) => {
  const { page } = await open(t, "approval");
  await page.waitForSelector(".ask");
  await page.hover("[role=log]");
  await page.mouse.wheel(0, -3_000);
  await page.getByText("1 call waits below").waitFor();
  await page.evaluate(() => document.activeElement.blur());
  await page.keyboard.press(".");
  await page.getByText("1 call waits below").waitFor({ state: "detached" });
  assert.equal(await page.evaluate(() => document.activeElement.className), "ask");
});

test("a log whose scroll bar is pulled up stops following, and follows again when asked", async (t) => {
  const { page } = await open(t, "log");
  const button = page.locator(".panel .head .btn");
  await page.locator(".ev li").first().waitFor();
  assert.equal(await button.innerText(), "Following");
  await page.evaluate(() => {
    const box = document.querySelector(".ev");
    box.style.maxHeight = "120px";
    box.scrollTop = box.scrollHeight;
  });
  await page.waitForTimeout(50);
  await page.evaluate(() => (document.querySelector(".ev").scrollTop = 0)); // as the scroll bar does it
  await page.waitForFunction(() => document.querySelector(".panel .head .btn").innerText === "Follow");
  await button.click();
  assert.equal(await button.innerText(), "Following");
});

test("an edited text whose run did not start is in the box, and the focus stays in the timeline", async (t) => {
  const { page } = await open(t, "ended");
  await page.evaluate(() => {
    const { answer } = globalThis.stage;
    answer.branch = { ok: true };
    answer.start = new Promise((settle) => (globalThis.settle = settle));
  });
  await page.getByRole("button", { name: "Edit and branch" }).click();
  await page.keyboard.press("ControlOrMeta+A");
  await page.keyboard.type("another way");
  await page.keyboard.press("Enter");
  await page.evaluate(() => {
    const { timeline } = globalThis.stage;
    timeline.value = { ...timeline.value, items: timeline.value.items.slice(1) }; // the branch is heard of
  });
  await page.waitForFunction(() => document.querySelector(".you-edit") === null);
  assert.equal(await page.evaluate(() => document.activeElement.className), "scroll");
  await page.evaluate(() => globalThis.settle({ ok: false, code: "config_error", status: 400, message: "no model is set" }));
  await page.getByText("The agent cannot start: no model is set").waitFor();
  await page.keyboard.press("Escape");
  assert.equal(await page.inputValue("#message"), "another way");
});

test("what is touched on a phone is 44 px high, and stands on the screen of the smallest", async (t) => {
  const { page } = await open(t, "approval");
  const buttons = () => page.evaluate(() => [...document.querySelectorAll(".main button:not([popover] *), .main .box textarea")].filter((b) => b.checkVisibility()).map((b) => {
    const { height, right } = b.getBoundingClientRect();
    return { name: b.ariaLabel ?? b.innerText, height, right };
  }));
  await page.setViewportSize({ width: 390, height: 800 });
  assert.deepEqual((await buttons()).filter((b) => b.height < 43.5), []);
  await page.setViewportSize({ width: 320, height: 640 });
  assert.deepEqual((await buttons()).filter((b) => b.right > 320), []);
});

test("a try to connect that is short is not worth a word", async (t) => {
  const { page } = await open(t, "running");
  const words = await page.evaluate(async () => {
    const { connection } = globalThis.stage;
    const place = document.querySelector(".side .foot .grow");
    const said = [place.textContent];
    await new Promise((done) => {
      new MutationObserver(() => {
        said.push(place.textContent);
        if (said.length === 3) {
          done();
        }
      }).observe(place, { characterData: true, childList: true, subtree: true });
      connection.value = { ...connection.value, phase: "connecting", downSince: Date.now() };
    });
    return said;
  });
  assert.deepEqual(words, ["Live", "", "Connecting"]);
});
