// What the model thought, folded to one line.

import { useRef } from "preact/hooks";
import { useFold } from "../fold.ts";
import { plural } from "../format.ts";
import { Icon } from "../icons.tsx";

export function Reasoning({ text, streaming, name }: { text: string; streaming: boolean; name: string }) {
  const host = useRef<HTMLDivElement>(null);
  const { open, toggle } = useFold(name, false, host);
  const words = text.match(/\S+/g)?.length ?? 0;
  const first = (/^.*\S.*$/m.exec(text)?.[0] ?? "").replace(/[*_#`]/g, "").trim().slice(0, 200);
  return (
    <div ref={host} class="reason">
      <button type="button" aria-expanded={open} onClick={toggle}>
        <Icon name="right" class="fold-mark" />
        <span class="clip num">
          Reasoning, {plural(words, "word")}
          {!open && first !== "" && <span class="faint foreign"> – {first}</span>}
          {streaming && !open && <span class="caret" />}
        </span>
      </button>
      {open && <div class="thought foreign">{text}{streaming && <span class="caret" />}</div>}
    </div>
  );
}
