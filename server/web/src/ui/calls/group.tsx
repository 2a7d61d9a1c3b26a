// Calls that ran together, and calls that went well one after another.

import { useRef } from "preact/hooks";
import type { Call } from "../../state/types.ts";
import { useFold } from "../fold.ts";
import { duration, plural } from "../format.ts";
import { Icon, Status } from "../icons.tsx";
import { subject } from "./arguments.ts";
import { Approval } from "./approval.tsx";
import { CallCard } from "./card.tsx";

/** A call, or while a person is asked about it the question. */
export function CallOrQuestion({ call }: { call: Call }) {
  return call.state === "standing" && call.standing ? <Approval call={call} standing={call.standing} /> : <CallCard call={call} />;
}

export function Group({ calls }: { calls: readonly Call[] }) {
  return (
    <div class="par">
      <div class="cap"><span class="num">{plural(calls.length, "call")} in parallel</span></div>
      <div class="grid">{calls.map((call) => <CallOrQuestion key={call.key} call={call} />)}</div>
    </div>
  );
}

export function Folded({ calls, name }: { calls: readonly Call[]; name: string }) {
  const host = useRef<HTMLElement>(null);
  const { open, toggle } = useFold(name, false, host);
  const took = spent(calls);
  return (
    <section ref={host}>
      <div class="tool line">
        <header>
          <button type="button" aria-expanded={open} onClick={toggle}>
            <Icon name="right" class="muted fold-mark" />
            <b class="plain num">{plural(calls.length, "call")}</b>
            <span class="grow clip muted foreign">{calls.map((call) => `${call.name} ${subject(call.arguments)}`.trim()).join(", ")}</span>
            <span class="meta num"><Status is="ok" />{took}</span>
          </button>
        </header>
      </div>
      {open && <div class="calls">{calls.map((call) => <CallCard key={call.key} call={call} />)}</div>}
    </section>
  );
}

/** The sum of what the log tells; "" when it does not tell all. */
function spent(calls: readonly Call[]): string {
  let ms = 0;
  for (const call of calls) {
    if (call.duration === null) {
      return "";
    }
    ms += call.duration;
  }
  return duration(ms);
}
