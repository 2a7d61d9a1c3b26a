// The whole page.

import { useSignalEffect } from "@preact/signals";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { groupsOf, landing, waitingCalls } from "../state/select.ts";
import { useAnnouncements } from "./announce.ts";
import { Dialogs, tell } from "./dialog.tsx";
import { FirstRun } from "./firstrun.tsx";
import { type Command, listen } from "./keyboard.ts";
import { KeyList } from "./keys.tsx";
import { said } from "./live.ts";
import { type Page, PageProvider, usePage } from "./page.ts";
import { Panel } from "./panel/panel.tsx";
import { toggled, toSession } from "./route.ts";
import { phoneScreen, stepping } from "./screen.ts";
import { Absent, SessionView } from "./session.tsx";
import { Sessions } from "./sessions/list.tsx";
import { sequence } from "./sessions/order.ts";
import { SignIn } from "./signin.tsx";
import type { TimelineHandle } from "./timeline/timeline.tsx";
import { showTab } from "./title.ts";
import { refusal, titleOf } from "./words.ts";

export function App({ page }: { page: Page }) {
  return (
    <PageProvider value={page}>
      <Main />
      <Dialogs />
      <LiveRegion />
    </PageProvider>
  );
}

function LiveRegion() {
  const { words, count } = said.value;
  return <div class="sr" role="status" aria-live="polite">{words !== "" && <span key={count}>{words}</span>}</div>;
}

function Main() {
  const page = usePage();
  const handle = useRef<TimelineHandle | null>(null);
  const at = page.route.value;
  const { phase } = page.connection.value;
  useSignalEffect(() => {
    document.documentElement.dataset.theme = page.local.theme();
  });
  useSignalEffect(() => {
    const now = page.route.value;
    const row = now.at === "session" ? page.rows.value.get(now.session) : undefined;
    showTab(waitingCalls(page.standing.value), row ? titleOf(row) : "");
  });
  useAnnouncements();
  useHome();
  useBaseline();
  useKeys(handle);

  if (phase === "signed_out") {
    return <div class="app plain"><SignIn /></div>;
  }
  const session = at.at === "session" ? at.session : "";
  const down = phase === "offline" || phase === "waiting" || phase === "connecting";
  return (
    <div class={`app${down ? " offline" : ""}`} data-screen={phoneScreen.value}>
      <a class="btn skip" href="#message" onClick={toMessage}>Skip to the message</a>
      <Sessions onNew={() => void createSession(page)} />
      <main class="main" id="main">
        {at.at === "session" ? <SessionView key={session} id={session} handle={handle} /> : at.at === "unknown" ? <Absent /> : <Home />}
      </main>
      {at.at === "session" && at.panel && <Panel session={session} panel={at.panel} />}
    </div>
  );
}

/** The fragment is not the page's to set: a jump is a focus. */
function toMessage(event: MouseEvent): void {
  event.preventDefault();
  document.getElementById("message")?.focus();
}

function Home() {
  const { list, rows } = usePage();
  return list.value === "ready" && rows.value.size === 0 ? <FirstRun /> : null;
}

/** "/" is the newest session that needs a person, else the one opened last, else the newest. */
function useHome(): void {
  const page = usePage();
  const { go, local } = page;
  const at = page.route.value;
  const list = page.list.value;
  const rows = page.rows.value;
  const me = page.me.value;
  useEffect(() => {
    if (at.at === "session" && me) {
      local.setLastOpened(at.session); // kept for its owner, who is known by now
    }
  }, [at, me?.owner]);
  useLayoutEffect(() => { // before the paint: a panel that is gone leaves no empty screen
    if (at.at === "session") {
      phoneScreen.value = at.panel ? "panel" : "main";
    }
  }, [at]);
  useEffect(() => {
    if (at.at === "home" && list === "ready" && rows.size > 0) {
      const to = landing({ rows, standing: page.standing.value }, local.lastOpened());
      if (to !== "") {
        go(toSession(to), true);
      }
    }
  }, [at, list, rows.size > 0]);
}

/** What is there when a session is first listed here is not new. */
function useBaseline(): void {
  const page = usePage();
  const { local } = page;
  const rows = page.rows.value;
  useEffect(() => {
    for (const row of rows.values()) {
      if (local.readMark(row.id) < 0) {
        local.setReadMark(row.id, row.newsSeq);
      }
    }
  }, [rows.size]);
}

async function createSession({ act, go }: Page): Promise<void> {
  const outcome = await act.create();
  if (outcome.ok) {
    go(toSession(outcome.value.id));
  } else {
    tell(refusal(outcome), null);
  }
}

function useKeys(handle: { current: TimelineHandle | null }): void {
  const page = usePage();
  useEffect(() => listen(() => page.local.singleKeys(), (command) => run(page, handle.current, command)), [page]);
}

/** Returns whether the key did something. */
function run(page: Page, timeline: TimelineHandle | null, command: Command): boolean {
  const at = page.route.value;
  switch (command) {
    case "search":
      phoneScreen.value = "list";
      requestAnimationFrame(() => document.getElementById("search")?.focus());
      return true;
    case "new":
      void createSession(page);
      return true;
    case "next":
    case "previous":
      return step(page, command === "next" ? 1 : -1);
    case "textBefore":
    case "textAfter":
      timeline?.toText(command === "textBefore" ? -1 : 1);
      return timeline !== null;
    case "ask":
      return toAsk(page, timeline);
    case "log":
    case "settings":
      if (at.at !== "session") {
        return false;
      }
      page.showPanel(toggled(at.panel, command));
      return true;
    case "end":
      timeline?.toEnd();
      return timeline !== null;
    case "stop":
      document.getElementById("stop")?.click();
      return true;
    case "keys":
      tell("Keys", <KeyList />);
      return true;
    default:
      return leave(page);
  }
}

function step(page: Page, by: 1 | -1): boolean {
  const order = sequence(groupsOf(page.app.value));
  const at = page.route.value;
  const now = at.at === "session" ? order.indexOf(at.session) : -1;
  const to = order[now < 0 ? 0 : now + by];
  if (to !== undefined) {
    stepping.now = true;
    page.go(toSession(to));
  }
  return to !== undefined;
}

/** The question of this session, else the session that waits longest for a person. */
function toAsk(page: Page, timeline: TimelineHandle | null): boolean {
  if (timeline?.toAsk()) {
    return true;
  }
  const need = groupsOf(page.app.value).needs[0];
  if (need) {
    page.go(toSession(need.id));
  }
  return need !== undefined;
}

/** Escape closes the top layer, then leaves the field. It never stops a run. */
function leave(page: Page): boolean {
  const at = page.route.value;
  const active = document.activeElement;
  const panel = document.querySelector(".panel");
  if (at.at === "session" && at.panel && (panel?.contains(active) || active === document.body)) {
    page.showPanel(null);
    return true;
  }
  if (active instanceof HTMLElement && active.matches("input, textarea, select")) {
    active.blur();
    return true;
  }
  return false;
}
