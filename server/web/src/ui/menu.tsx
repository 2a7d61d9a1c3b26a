// Menus: a button, and a popover of the browser in the top layer.

import type { ComponentChildren } from "preact";
import { useId, useRef, useState } from "preact/hooks";
import { Icon } from "./icons.tsx";

export interface MenuEntry {
  label: string;
  /** a second line: what it does */
  hint?: string;
  act: () => void;
  bad?: boolean;
  /** why it does nothing now */
  off?: string;
  /** one of a choice: whether it is the chosen one */
  checked?: boolean;
  /** a choice of its own: whether it is on */
  on?: boolean;
  /** a line above it */
  apart?: boolean;
}

interface MenuProps {
  label: string;
  entries: readonly MenuEntry[];
  /** class of the button; default that of an icon */
  class?: string;
  icon?: string;
  children?: ComponentChildren;
  off?: string;
  title?: string;
}

export function Menu({ label, entries, class: look = "icon", icon = "more", children, off, title }: MenuProps) {
  const id = useId();
  const button = useRef<HTMLButtonElement>(null);
  const list = useRef<HTMLDivElement>(null);
  const [open, setOpen] = useState(false);

  /** At once, not at the toggle event: that comes later than the next key can. */
  const clicked = (): void => {
    if (!off && button.current && list.current?.togglePopover()) {
      place(list.current, button.current);
      focusable(list.current)[0]?.focus();
    }
  };
  return (
    <>
      <button
        ref={button} type="button" class={look} aria-label={children ? undefined : label} title={off || title || label}
        aria-haspopup="menu" aria-expanded={open} aria-controls={id} aria-disabled={off ? true : undefined}
        onClick={clicked}
      >
        {children ?? <Icon name={icon} />}
      </button>
      <div ref={list} id={id} class="menu" role="menu" aria-label={label} popover="auto" onToggle={(event) => setOpen(event.newState === "open")} onKeyDown={moved}>
        {entries.map((entry) => (
          <>
            {entry.apart && <hr role="separator" />}
            <button
              type="button" tabIndex={-1} class={entry.bad ? "bad" : undefined}
              role={entry.on !== undefined ? "menuitemcheckbox" : entry.checked !== undefined ? "menuitemradio" : "menuitem"}
              aria-checked={entry.on ?? entry.checked} aria-disabled={entry.off ? true : undefined}
              onClick={() => {
                if (!entry.off) {
                  list.current?.hidePopover();
                  button.current?.focus();
                  entry.act();
                }
              }}
            >
              <span class="grow">
                {entry.label}
                {(entry.off || entry.hint) && <small>{entry.off || entry.hint}</small>}
              </span>
              {(entry.on ?? entry.checked) && <span class="st ok" aria-hidden="true" />}
            </button>
          </>
        ))}
      </div>
    </>
  );
}

function focusable(list: HTMLElement): HTMLElement[] {
  return [...list.querySelectorAll<HTMLElement>("button")];
}

function moved(event: KeyboardEvent): void {
  const list = event.currentTarget as HTMLElement;
  const all = focusable(list);
  const at = all.indexOf(document.activeElement as HTMLElement);
  const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: all.length - 1 }[event.key];
  if (to !== undefined) {
    all[(to + all.length) % all.length]?.focus();
    event.preventDefault();
  } else if (event.key === "Tab") {
    list.hidePopover();
  }
  event.stopPropagation(); // a menu's keys are not the page's
}

/** Below the button, or above where there is no room; inside the window. */
function place(list: HTMLElement, button: HTMLElement): void {
  const at = button.getBoundingClientRect();
  const { offsetWidth: width, offsetHeight: height } = list;
  const left = Math.min(Math.max(8, at.right - width), innerWidth - width - 8);
  const below = at.bottom + 4;
  const top = below + height > innerHeight - 8 ? Math.max(8, at.top - height - 4) : below;
  list.style.left = `${left}px`;
  list.style.top = `${top}px`;
}
