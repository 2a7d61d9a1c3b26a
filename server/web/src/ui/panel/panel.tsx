// The side panel: one of log and settings.

import { useComputed } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { Icon, IconButton } from "../icons.tsx";
import { usePage } from "../page.ts";
import type { PanelRoute } from "../route.ts";
import { LogPanel } from "./log.tsx";
import { SettingsPanel } from "./settings.tsx";

export function Panel({ session, panel }: { session: string; panel: NonNullable<PanelRoute> }) {
  const { app } = usePage();
  const openedAt = useComputed(() => app.value.open?.openedAt).value; // a log that took the place of another is read anew
  return panel.is === "log" ? <LogPanel key={`${session} ${openedAt}`} session={session} seq={panel.seq} /> : <SettingsPanel key={session} session={session} />;
}

interface FrameProps {
  name: string;
  /** what stands in the header behind the name */
  head?: ComponentChildren;
  children: ComponentChildren;
}

/** The frame of a panel; closing it hands the focus back to the conversation. */
export function PanelFrame({ name, head, children }: FrameProps) {
  const { showPanel } = usePage();
  const frame = useRef<HTMLElement>(null);
  useLayoutEffect(
    () => () => {
      if (frame.current?.contains(document.activeElement)) {
        document.querySelector<HTMLElement>(".main .scroll")?.focus({ preventScroll: true });
      }
    },
    [],
  );
  const close = (): void => showPanel(null);
  return (
    <aside ref={frame} class="panel" aria-label={name}>
      <header class="head">
        <button type="button" class="icon back" aria-label="Back to the conversation" onClick={close}><Icon name="left" /></button>
        <h1>{name}</h1>
        {head ?? <span class="grow" />}
        <IconButton icon="close" class="wide" label={`Close ${name.toLowerCase()}`} onClick={close} />
      </header>
      {children}
    </aside>
  );
}
