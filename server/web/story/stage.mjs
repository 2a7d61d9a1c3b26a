// A state of the story page in a browser, for the tests beside this file.

import assert from "node:assert/strict";
import { after, before } from "node:test";
import { chromium } from "playwright-core";
import { serve } from "./serve.mjs";

let browser, server;
before(async () => {
  server = await serve();
  browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });
});
after(async () => {
  await browser.close();
  server.close();
});

/** A page that shows a state; done() is what was done so far. there: what shows that it is drawn, first: runs before the page. */
export async function open(t, state, { there = "#message", first = () => undefined } = {}) {
  const page = await browser.newPage({ viewport: { width: 1280, height: 700 }, reducedMotion: "reduce" });
  t.after(() => page.close());
  page.on("pageerror", (e) => assert.fail(e));
  await page.addInitScript(first);
  await page.goto(`${server.address}#${state}`);
  await page.waitForSelector(there);
  const done = (name) => page.evaluate((n) => globalThis.stage.done.filter(([x]) => x === n), name);
  return { page, done };
}
