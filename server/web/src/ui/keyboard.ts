// The keys of the page. Single letters never work in a field, and can be switched off.

/** What a key asks for. */
export type Command =
  | "search" | "new" | "next" | "previous" | "textBefore" | "textAfter" | "ask" | "log" | "settings" | "end" | "stop" | "keys" | "leave";

interface Press {
  key: string;
  ctrl: boolean;
  meta: boolean;
  alt: boolean;
  /** the key is being held */
  repeat: boolean;
  /** an input method has the key */
  composing: boolean;
  inField: boolean;
  singleKeys: boolean;
}

const letters: Readonly<Record<string, Command>> = {
  "/": "search", n: "new", j: "next", k: "previous", "[": "textBefore", "]": "textAfter", ".": "ask", l: "log", s: "settings", "?": "keys",
};

/** null: the key is not the page's. */
export function commandOf(press: Press): Command | null {
  if (press.composing || press.alt) {
    return null;
  }
  if (press.key === "." && (press.ctrl || press.meta)) {
    return press.repeat ? null : "stop";
  }
  if (press.ctrl || press.meta) {
    return null;
  }
  if (press.key === "Escape") {
    return "leave";
  }
  if (press.inField) {
    return null;
  }
  if (press.key === "End") {
    return "end";
  }
  const command = press.singleKeys ? (letters[press.key] ?? null) : null;
  return press.repeat && command !== "next" && command !== "previous" ? null : command;
}

/** Listens to the whole page; returns how to stop. */
export function listen(singleKeys: () => boolean, run: (command: Command) => boolean): () => void {
  const pressed = (event: KeyboardEvent): void => {
    if (event.defaultPrevented) {
      return;
    }
    const target = event.target as HTMLElement | null;
    const command = commandOf({
      key: event.key, ctrl: event.ctrlKey, meta: event.metaKey, alt: event.altKey, repeat: event.repeat,
      composing: event.isComposing || event.keyCode === 229,
      inField: target?.closest("input, textarea, select, [contenteditable]") != null, singleKeys: singleKeys(),
    });
    if (command && run(command)) {
      event.preventDefault();
    }
  };
  document.addEventListener("keydown", pressed);
  return () => document.removeEventListener("keydown", pressed);
}
