// Takes the screenshot of the README: a real run of the demo model, with an approval that
// waits. scripts/pagetest picture.

import { fileURLToPath } from "node:url";
import { World, browser } from "./world.mjs";

const file = fileURLToPath(new URL("../page.png", import.meta.url));
const ends = [];
const world = await World.of({ passed: true, after: (end) => ends.push(end) });
world.write("notes.md", "# Yard\n\nOne horse stands at the post.\n");
world.write("fence.md", "# Fence\n\nThree posts, two rails.\n");

const tab = await world.session({ viewport: { width: 1200, height: 760 } });
await tab.run("list *.md");
await tab.create();
await tab.run("plan mend the fence, feed the mule, sleep");
await tab.create();
await tab.run("both read notes.md and read fence.md");
await tab.say("replace horse with mule in notes.md");
await tab.decide(/^Approve/);
await tab.until("the end of the change", async () => (await tab.feet()) === 2);
await tab.say("run wc -l notes.md fence.md");
await tab.page.locator(".ask").waitFor();
await tab.page.getByText(/^asked /).waitFor();
const fold = tab.page.locator(".tool").filter({ hasText: "Edit" }).locator("header > button[aria-expanded=false]");
if (await fold.count() > 0) {
  await fold.click();
}
await tab.page.getByRole("log").focus();
await tab.page.keyboard.press("End");
await tab.page.evaluate(() => document.activeElement?.blur());
await tab.page.mouse.move(700, 740);
await tab.page.waitForTimeout(500);
await tab.page.screenshot({ path: file });

for (const end of ends.reverse()) {
  await end();
}
await (await browser()).close();
