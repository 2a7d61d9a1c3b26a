// The story page: every state of every component, from the code of the page itself.
// Development only: scripts/story builds it, the bundle of the page never holds it.

import { render } from "preact";
import "./style/index.css";
import { Parts, unfold } from "./story/parts.tsx";
import { scenes } from "./story/scenes.ts";
import { storyPage } from "./story/page.ts";
import { ProseEngine } from "./text/prose.ts";
import { App } from "./ui/app.tsx";
import { copy } from "./ui/live.ts";
import { phoneScreen } from "./ui/screen.ts";

const prose = new ProseEngine({ window, idle: (work) => setTimeout(work, 0), copy: (text) => void copy(text) });

/** The fragment names the state. */
function show(): void {
  const name = location.hash.slice(1) || "running";
  const host = document.getElementById("page");
  if (!host) {
    return;
  }
  render(null, host);
  if (name === "parts") {
    const { page } = storyPage({}, prose);
    unfold(page.local);
    render(<Parts page={page} />, host);
    return;
  }
  const scene = scenes[name];
  if (!scene) {
    host.textContent = `No story is called ${name}. These are: ${Object.keys(scenes).join(", ")}, parts`;
    return;
  }
  const { page, stage } = storyPage(scene, prose);
  Object.assign(globalThis, { stage });
  render(<App page={page} />, host);
  setTimeout(() => (phoneScreen.value = name === "list" ? "list" : scene.route?.at === "session" && scene.route.panel ? "panel" : "main"), 100);
}

addEventListener("hashchange", show);
show();
