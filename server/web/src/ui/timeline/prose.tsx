// Hosts of text: the Markdown engine draws into them and owns what is inside.

import { useLayoutEffect, useRef } from "preact/hooks";
import { type ProseView, usePage } from "../page.ts";

/** Markdown of a user, a model or a summary. */
export function Prose({ text, streaming }: { text: string; streaming: boolean }) {
  const { prose } = usePage();
  const host = useRef<HTMLDivElement>(null);
  const view = useRef<ProseView | null>(null);
  useLayoutEffect(() => {
    if (host.current) {
      view.current = prose.attach(host.current);
    }
    return () => view.current?.end();
  }, [prose]);
  useLayoutEffect(() => view.current?.update(text, streaming), [text, streaming]);
  return <div ref={host} class={`prose md foreign${streaming ? " streaming" : ""}`} />;
}
