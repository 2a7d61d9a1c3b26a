// Hosts of text: the Markdown engine draws into them and owns what is inside.

import { useLayoutEffect, useRef } from "preact/hooks";
import { useAll } from "../fold.ts";
import { size } from "../format.ts";
import { type ProseView, usePage } from "../page.ts";

const most = 200_000; // characters of a text that are drawn before somebody asks for all of it

/** Markdown of a user, a model or a summary. name: of the entry; streaming: more may come; caret: it comes now. */
export function Prose({ text, name, streaming, caret }: { text: string; name: string; streaming: boolean; caret?: boolean }) {
  const { prose } = usePage();
  const [all, setAll] = useAll(name);
  const long = !all && text.length > most;
  const shown = long ? text.slice(0, most) : text;
  const host = useRef<HTMLDivElement>(null);
  const view = useRef<ProseView | null>(null);
  useLayoutEffect(() => {
    if (host.current) {
      view.current = prose.attach(host.current);
    }
    return () => view.current?.end();
  }, [prose]);
  useLayoutEffect(() => view.current?.update(shown, streaming), [shown, streaming]);
  return (
    <>
      <div ref={host} class={`prose md foreign${caret ? " streaming" : ""}`} />
      {long && <button type="button" class="btn small" onClick={() => setAll(true)}>Show all {size(text.length)}</button>}
    </>
  );
}
