// The page's drawings: 16 px, stroke 1.5.

import type { ComponentChildren } from "preact";

const paths: Record<string, ComponentChildren> = {
  plus: <path d="M8 3v10M3 8h10" />,
  search: <><circle cx="7" cy="7" r="4.2" /><path d="m10.2 10.2 3 3" /></>,
  more: <path d="M3.5 8h.01M8 8h.01M12.5 8h.01" stroke-width="2.4" />,
  settings: <><path d="M2.5 4.5h5M11.5 4.5h2M2.5 11.5h2M8.5 11.5h5" /><circle cx="9.5" cy="4.5" r="1.8" /><circle cx="6.5" cy="11.5" r="1.8" /></>,
  rows: <path d="M2.5 4h2M6.5 4h7M2.5 8h2M6.5 8h7M2.5 12h2M6.5 12h4" />,
  right: <path d="m6 4 4 4-4 4" />,
  left: <path d="m10 4-4 4 4 4" />,
  down: <path d="m4 6 4 4 4-4" />,
  arrow: <path d="M8 3v10M4 9l4 4 4-4" />,
  send: <path d="M8 13V3M4 7l4-4 4 4" />,
  copy: <><rect x="5.5" y="5.5" width="8" height="8" rx="1.5" /><path d="M10.5 5.5v-2a1 1 0 0 0-1-1h-6a1 1 0 0 0-1 1v6a1 1 0 0 0 1 1h2" /></>,
  edit: <path d="m3 13 .6-2.8L10.8 3l2.2 2.2-7.2 7.2z" />,
  fork: <><circle cx="4" cy="3.5" r="1.5" /><circle cx="12" cy="3.5" r="1.5" /><circle cx="8" cy="12.5" r="1.5" /><path d="M4 5v1.5a2 2 0 0 0 2 2h4a2 2 0 0 0 2-2V5M8 8.5V11" /></>,
  redo: <path d="M13 8a5 5 0 1 1-1.6-3.7M13 2.5v2.8h-2.8" />,
  close: <path d="m4.5 4.5 7 7M11.5 4.5l-7 7" />,
  terminal: <path d="m3 5 3 3-3 3M8.5 11.5H13" />,
  diff: <path d="M8 3v6M5 6h6M5 12.5h6" />,
  file: <path d="M4 2.5h5l3 3v8H4zM9 2.5v3h3" />,
};

export function Icon({ name, class: more = "" }: { name: string; class?: string }) {
  return (
    <svg class={`i ${more}`.trimEnd()} viewBox="0 0 16 16" aria-hidden="true">
      {paths[name]}
    </svg>
  );
}

/** The mark: two posts and what is tied to them. */
export function Brandmark() {
  return (
    <svg class="brandmark" width="20" height="20" viewBox="0 0 20 20" fill="none" stroke="currentColor" stroke-linecap="round" aria-hidden="true">
      <path d="M4 2.5v15M16 2.5v15M4 7.5h12" stroke-width="2.2" />
      <circle cx="10" cy="12.6" r="2.7" stroke-width="1.5" />
      <path d="M10 7.5v2.4" stroke-width="1.5" />
    </svg>
  );
}

/** Shape first, colour second; a word always stands beside it. */
export type Glyph = "need" | "run" | "open" | "fail" | "idle" | "off" | "live" | "ok";

export function Status({ is }: { is: Glyph }) {
  return <span class={`st ${is}`} aria-hidden="true" />;
}

interface IconButtonProps {
  icon: string;
  label: string;
  onClick?: (event: MouseEvent) => void;
  small?: boolean;
  class?: string;
  pressed?: boolean;
  /** why it does nothing now; "" = it works */
  off?: string;
  title?: string;
}

export function IconButton({ icon, label, onClick, small, class: more, pressed, off, title }: IconButtonProps) {
  return (
    <button
      type="button"
      class={["icon", small ? "small" : "", more ?? ""].filter(Boolean).join(" ")}
      aria-label={label}
      aria-pressed={pressed}
      aria-disabled={off ? true : undefined}
      title={off || title || label}
      onClick={off ? undefined : onClick}
    >
      <Icon name={icon} />
    </button>
  );
}
