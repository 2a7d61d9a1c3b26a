// Much of everything: entries, hostile texts, long lines.

import assert from "node:assert/strict";
import { test } from "node:test";
import { sessionLines, World } from "./world.mjs";

test("a session of 5 000 entries opens at its end, loads what is earlier, and keeps what is read in its place", async (t) => {
  const world = await World.of(t, { lines: sessionLines("long", 5_000) });
  const tab = await world.open("/s/long");
  await tab.page.getByText("Answer 1249. The ledger").waitFor();
  await tab.picture("5000 entries");
  const first = () => tab.page.evaluate(() => Number(/(?:Question|Answer) (\d+)/.exec(document.querySelector("[role=log]").innerText)?.[1]));
  const nodes = () => tab.page.locator("article.e").count();
  const box = tab.page.getByRole("log");
  await box.hover();
  for (let pages = 0; pages < 8; pages++) {
    const before = await first();
    await tab.until("an earlier page", async () => {
      await tab.page.mouse.wheel(0, -3_000);
      return (await first()) < before;
    });
    assert.ok((await nodes()) <= 450, `${await nodes()} entries are in the document`);
  }
  assert.ok((await first()) < 1_100, "eight pages are not that much");
  await tab.picture("5000 entries earlier");

  // What is read stays where it is while a page comes in above it.
  const place = () => tab.page.evaluate(() => {
    const edge = document.querySelector("[role=log]").getBoundingClientRect();
    const seen = [...document.querySelectorAll("article.e")].find((e) => e.getBoundingClientRect().top > edge.top + 100);
    globalThis.watched ??= seen;
    return globalThis.watched.isConnected ? globalThis.watched.getBoundingClientRect().top : null;
  });
  await tab.page.waitForTimeout(300);
  const was = await place();
  const before = await first();
  await tab.page.evaluate(() => [...document.querySelectorAll("[role=log] button")].find((b) => b.innerText.startsWith("Load 100"))?.click());
  await tab.page.waitForTimeout(700);
  const is = await place();
  assert.ok((await first()) <= before && Math.abs(is - was) < 2, `it moved from ${was} to ${is}`);

  await box.focus();
  await tab.page.keyboard.press("End");
  await tab.page.getByText("Answer 1249. The ledger").waitFor();
  await tab.until("the end in view", () => tab.page.evaluate(() => {
    const log = document.querySelector("[role=log]");
    return log.scrollHeight - log.scrollTop - log.clientHeight < 48;
  }));
  await tab.run("think 3");
});

const hostile = [
  "<script>window.bad=1</script>", "<img src=https://evil.example/x.png onerror=\"window.bad=1\">", "<svg onload=window.bad=1><iframe srcdoc='<script>parent.bad=1</script>'></iframe>",
  "<style>body{display:none}</style><base href=https://evil.example/><form action=https://evil.example/><button id=message>x</button></form>",
  "[a](javascript:window.bad=1) [b](JaVaScRiPt:window.bad=1) [c](data:text/html,<script>1</script>) <javascript:window.bad=1> ![i](https://evil.example/i.png \"t\")",
  "[d](//evil.example/x) [e](https://evil.example/ok) https://evil.example/auto", "left \u202Eright to left\u202C \u2066isolated\u2069 \u200B\u200Fmarks \u0007\u001b[31mred\u001b[0m\u001b]0;t\u0007",
  "<a href=\"#\" onclick=\"window.bad=1\" style=\"position:fixed;inset:0\">everything</a>", "{{7*7}} ${7*7} <!-- --> <![CDATA[x]]> &lt;b&gt; &#x3c;i&#x3e;", "| a | b |\n|---|---|\n| <b>x</b> | `</code><script>window.bad=1</script>` |",
].join("\n\n");

/** Sets an account of every task longer than 50 ms from here on. */
const watchTasks = () => {
  globalThis.longest = 0;
  new PerformanceObserver((list) => list.getEntries().forEach((e) => (globalThis.longest = Math.max(globalThis.longest, e.duration)))).observe({ type: "longtask", buffered: true });
};

test("a text, an answer and a result full of HTML, scripts, links and bidi marks stand as text and run nothing", async (t) => {
  const world = await World.of(t, { lines: sessionLines("odd", 4, { text: hostile, result: hostile, call: { file_path: hostile } }) });
  const tab = await world.open("/s/odd");
  await tab.page.locator(".runfoot").waitFor();
  await tab.page.locator(".tool button[aria-expanded]").first().click();
  await tab.picture("hostile");
  const shown = await tab.text();
  for (const piece of ["<script>window.bad=1</script>", "onerror=\"window.bad=1\"", "javascript:window.bad=1", "<style>body{display:none}</style>"]) {
    assert.ok(shown.split(piece).length >= 3, `${piece} stands in the text and in the result`);
  }
  for (const link of await tab.page.locator("[role=log] a").evaluateAll((all) => all.map((a) => [a.protocol, a.rel, a.getAttribute("href")]))) {
    assert.match(link[0], /^(https?|mailto):$/, link[2]);
    assert.match(link[1] || "noopener noreferrer", /noopener/);
  }
  assert.equal(await tab.page.locator("[role=log] :is(img, script, style, iframe, base, form, svg[onload], object, embed, [onclick], [onerror], [style])").count(), 0);
  assert.equal(await tab.page.evaluate(() => globalThis.bad), undefined);
  assert.equal(await tab.page.locator("#message").evaluate((e) => e.tagName), "TEXTAREA");
  assert.equal(await tab.page.evaluate(() => document.querySelector("base")), null);
  await tab.say(hostile);
  await tab.until("the answer", async () => (await tab.feet()) === 2);
  await tab.sameAfterReload();
  assert.equal(await tab.page.evaluate(() => globalThis.bad), undefined);
});

test("arguments with marks that turn the writing round are shown as they are before they are approved", async (t) => {
  const world = await World.of(t);
  const tab = await world.session();
  await tab.say("run echo \u202Etxt.exe\u202C ok");
  await tab.page.locator(".ask").waitFor();
  assert.match(await tab.page.locator(".ask pre").first().innerText(), /202E/i);
  await tab.picture("bidi approval");
});

test("a text and a result of one line of a megabyte are cut on the screen, whole in a copy, and freeze nothing", async (t) => {
  const line = "mule ".repeat(210_000);
  const solid = "x".repeat(1_050_000);
  const world = await World.of(t, { lines: sessionLines("wide", 8, { text: line, result: solid }) });
  const tab = await world.open("/", {});
  await tab.page.evaluate(watchTasks);
  const from = Date.now();
  await tab.page.locator(".side .row").first().click();
  await tab.page.locator(".runfoot").last().waitFor();
  await tab.page.locator(".tool button[aria-expanded]").last().click();
  t.diagnostic(`shown after ${Date.now() - from} ms, the longest task ${Math.round(await tab.page.evaluate(() => globalThis.longest))} ms`);
  assert.ok((await tab.page.evaluate(() => document.querySelector("[role=log]").innerText.length)) < 1_000_000, "all of it is in the document");
  await tab.page.getByText(/^Show all/).first().waitFor();
  assert.equal(await tab.page.evaluate(() => document.documentElement.scrollWidth > innerWidth), false);
  await tab.page.locator("#message").pressSequentially("still here"); // a page that is frozen takes no key
  assert.equal(await tab.page.inputValue("#message"), "still here");
  await tab.picture("one line");
});

test("a text and a result that are shown whole are whole after a reload, and one that is cut again is cut", async (t) => {
  const line = (n) => `Mule ${n} stands at the post, and the ledger has a line of it.`;
  const lines = (of) => Array.from({ length: of }, (_, n) => line(n + 1)).join("\n");
  const world = await World.of(t, { lines: sessionLines("tall", 4, { text: lines(3_300), result: lines(40) }) });
  const tab = await world.open("/s/tall");
  const output = tab.page.getByRole("region", { name: "Output" });
  const texts = tab.page.locator(".prose").filter({ hasText: "Mule 3300 stands" });
  const reloaded = async () => {
    await tab.page.reload();
    await tab.live();
    await output.waitFor();
  };
  await tab.page.locator(".tool button[aria-expanded]").click();
  await output.waitFor();
  assert.deepEqual([await texts.count(), (await output.innerText()).split("\n").length], [0, 12]);
  for (let n = 0; n < 2; n++) { // the text and the answer
    await tab.button(/^Show all .*B$/).first().click();
  }
  await tab.button("Show all 40 lines").click();
  await reloaded();
  assert.deepEqual([await texts.count(), (await output.innerText()).split("\n").length], [2, 40]);
  await tab.button("Show less").click();
  await reloaded();
  assert.equal((await output.innerText()).split("\n").length, 12);
});
