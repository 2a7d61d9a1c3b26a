// Shows every state of the story page to a browser, under the policy of the real page:
// takes pictures, asks axe, and fails on what axe calls serious, on an error in the
// console, and on a page that scrolls sideways.
//
//   npm run story            all states
//   npm run story -- gap     some of them
//
// CHROMIUM names the browser, /usr/bin/chromium by default.

import { readFile, mkdir } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { chromium } from "playwright-core";
import { folder, serve } from "./serve.mjs";

const pictures = new URL("../.pictures/", import.meta.url).pathname;
const axe = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

const states = [
  "running", "list", "approval", "hidden", "log", "settings", "offline", "gap", "replaying", "ended", "stopped", "failed", "paused",
  "stopping", "earlier", "nothing", "loading", "absent", "watching", "empty", "signin", "parts",
];
const views = [
  { name: "light", width: 1440, height: 968, scheme: "light" },
  { name: "dark", width: 1440, height: 968, scheme: "dark" },
  { name: "phone", width: 390, height: 800, scheme: "light" },
  { name: "forced", width: 1440, height: 968, scheme: "dark", forced: "active" },
  { name: "narrow", width: 320, height: 640, scheme: "dark" },
];
const { address, close } = await serve();

await mkdir(pictures, { recursive: true });
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });
const faults = [];
const wanted = process.argv.slice(2);
for (const view of views) {
  const context = await browser.newContext({
    viewport: { width: view.width, height: view.height }, colorScheme: view.scheme, reducedMotion: "reduce", timezoneId: "UTC", forcedColors: view.forced ?? "none", hasTouch: view.width < 500, isMobile: view.width < 500,
  });
  for (const state of states.filter((s) => wanted.length === 0 || wanted.includes(s))) {
    const page = await context.newPage();
    page.on("console", (m) => m.type() === "error" && faults.push(`${view.name} ${state}: console: ${m.text()}`));
    page.on("pageerror", (e) => faults.push(`${view.name} ${state}: ${e.stack}`));
    await page.goto(`${address}#${state}`);
    await page.waitForTimeout(350);
    await page.screenshot({ path: join(pictures, `${state}-${view.name}.png`) });
    const sideways = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
    if (sideways) {
      faults.push(`${view.name} ${state}: the page scrolls sideways`);
    }
    const session = await context.newCDPSession(page); // past the policy: the tool is not the page
    await session.send("Runtime.evaluate", { expression: axe });
    const found = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ["violations"] }));
    for (const v of found.violations.filter((x) => x.impact === "serious" || x.impact === "critical")) {
      faults.push(`${view.name} ${state}: ${v.id} (${v.impact}): ${v.nodes.slice(0, 3).map((n) => `${n.target.join(" ")} ${n.any[0]?.message ?? ""}`).join(" | ")}`);
    }
    await page.close();
  }
  await context.close();
}
await browser.close();
close();
console.log(faults.length === 0 ? "nothing serious" : faults.join("\n"));
process.exitCode = faults.length === 0 ? 0 : 1;
