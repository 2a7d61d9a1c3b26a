// Prints how fast the page is in a browser, by the browser's own clock: the first paint of
// a session's entries, and the long tasks of a stream. Nothing here passes or fails.
//
//	scripts/pagetest bench

import { sessionLines, World, browser } from "./world.mjs";

const ends = [];
const t = { passed: true, after: (end) => ends.push(end) };
const middle = (numbers) => [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)];

/** Before any script of the page: when the newest entries are painted, when the last of the others came in, and every task over 50 ms. */
function watch() {
  globalThis.tasks = [];
  new PerformanceObserver((list) => globalThis.tasks.push(...list.getEntries().map((e) => e.duration))).observe({ type: "longtask", buffered: true });
  new PerformanceObserver((list) => (globalThis.paintedAt ??= list.getEntries()[0].renderTime)).observe({ type: "element", buffered: true });
  let entries = 0;
  new MutationObserver(() => {
    const now = document.querySelectorAll(".e").length;
    if (entries === 0) {
      [...document.querySelectorAll(".e p")].at(-1)?.setAttribute("elementtiming", "newest"); // before it is painted
    }
    if (now !== entries) {
      entries = now;
      globalThis.allAt = performance.now();
    }
  }).observe(document, { childList: true, subtree: true });
}

const world = await World.of(t, { lines: sessionLines("two-hundred", 200) });
const tab = await world.open("/s/two-hundred");
await tab.page.addInitScript(watch);
const devtools = await tab.context.newCDPSession(tab.page);
await devtools.send("Performance.enable", { timeDomain: "threadTicks" });
/** What the page's thread has had of a processor so far, ms: other work of the machine is not in it. */
const busy = async () => 1_000 * (await devtools.send("Performance.getMetrics")).metrics.find((m) => m.name === "TaskDuration").value;
const paints = [];
const works = [];
const newest = [];
const all = [];
for (let round = 0; round < 15; round++) {
  const before = await busy();
  await tab.page.reload({ waitUntil: "commit" });
  await tab.page.waitForFunction(() => globalThis.paintedAt && performance.now() - globalThis.allAt > 300);
  const after = await busy();
  works.push(after < before ? after : after - before); // a new process begins at 0
  const [paint, painted, there] = await tab.page.evaluate(() => [performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? 0, globalThis.paintedAt, globalThis.allAt]);
  paints.push(paint);
  newest.push(painted);
  all.push(there);
}
console.log(`a session of 200 entries, ${newest.length} reloads: first contentful paint ${Math.round(middle(paints))} ms, a screen of entries painted ${Math.round(middle(newest))} ms (middle), ${Math.round(Math.max(...newest))} ms (worst), all of the page's in the document ${Math.round(middle(all))} ms, the page's own work for all of it ${Math.round(middle(works))} ms; the goal is 300 ms on a machine with nothing else to do`);

await tab.create();
await tab.page.evaluate(() => (globalThis.tasks.length = 0));
const from = Date.now();
const idle = await busy();
await tab.say("think 10000");
await tab.page.waitForFunction(() => document.querySelector(".runfoot"), null, { timeout: 600_000, polling: 500 });
const tasks = await tab.page.evaluate(() => globalThis.tasks);
console.log(`a stream of 10 000 chunks in ${Math.round((Date.now() - from) / 1_000)} s: ${tasks.length} tasks over 50 ms, the longest ${Math.round(Math.max(0, ...tasks))} ms, all together ${Math.round(tasks.reduce((a, b) => a + b, 0))} ms by the clock; the page's own work ${Math.round((await busy()) - idle)} ms`);

for (const end of ends.reverse()) {
  await end();
}
await (await browser()).close();
