// One entry of the timeline: its place on the rail, its name, and what draws it.

import { Component } from "preact";
import type { TimelineItem } from "../../state/types.ts";
import { callName } from "../calls/card.tsx";
import { CallOrQuestion, Folded, Group } from "../calls/group.tsx";
import { clock } from "../format.ts";
import { Cancelled, Compaction, Diagnostic, Failure, HoleNote, Partial, Replaying, RunFoot, Unknown } from "./notes.tsx";
import { Prose } from "./prose.tsx";
import { Reasoning } from "./reasoning.tsx";
import { UserText } from "./user.tsx";

export interface EntryProps {
  item: TimelineItem;
  session: string;
  /** the newest thing of a run that goes on */
  head: boolean;
  /** the newest thing of a session where nothing runs */
  final: boolean;
  /** the address names it */
  found: boolean;
  locked: string;
}

/** Drawn again only when something of it changed: items keep their identity. */
export class TimelineEntry extends Component<EntryProps> {
  override shouldComponentUpdate(next: Readonly<EntryProps>): boolean {
    return (Object.keys(next) as (keyof EntryProps)[]).some((name) => next[name] !== this.props[name]);
  }

  override render() {
    const { item, head, found } = this.props;
    const node = nodeOf(item, head);
    const name = nameOf(item);
    return (
      <article class={`e${found ? " found" : ""}`} data-key={item.key} data-seq={item.seq} tabIndex={-1} aria-label={name}>
        {node !== null && <span class={`node ${node}`.trimEnd()} aria-hidden="true" />}
        <div>{content(this.props)}</div>
      </article>
    );
  }
}

/** null: nothing on the rail. */
function nodeOf(item: TimelineItem, head: boolean): string | null {
  switch (item.is) {
    case "user":
      return "you";
    case "call":
      return item.state === "standing" ? "need" : head ? "live" : "";
    case "group":
      return (item.calls.some((call) => call.state === "standing") ? "need high" : head ? "live high" : "high");
    case "prose":
      return head ? "live prose-high" : null;
    case "reasoning":
    case "hole":
    case "diagnostic":
      return head ? "live" : null;
    default:
      return null;
  }
}

function nameOf(item: TimelineItem): string {
  switch (item.is) {
    case "user":
      return item.entry ? `You, ${clock(item.entry.created_at)}` : "You";
    case "call":
      return callName(item);
    case "group":
    case "folded":
      return item.calls.map(callName).join("; ");
    case "prose":
    case "partial":
      return "Agent";
    case "reasoning":
      return "Reasoning";
    case "foot":
      return "End of the run";
    default:
      return "Note";
  }
}

function content({ item, session, head, final, locked }: EntryProps) {
  switch (item.is) {
    case "user":
      return <UserText item={item} session={session} locked={locked} />;
    case "prose":
      return (
        <>
          <Prose text={item.text} name={item.key} streaming={item.streaming} caret={item.streaming && head} />
          {item.parts.map((part) => <pre class="pane foreign" tabIndex={0}>{JSON.stringify(part, null, 2)}</pre>)}
          {item.incomplete && <p class="cut">Cut short here.</p>}
        </>
      );
    case "reasoning":
      return <Reasoning text={item.text} streaming={item.streaming && head} name={item.key} />;
    case "call":
      return <CallOrQuestion call={item} />;
    case "group":
      return <Group calls={item.calls} />;
    case "folded":
      return <Folded calls={item.calls} name={item.key} />;
    case "partial":
      return <Partial item={item} />;
    case "failure":
      return <Failure item={item} session={session} again={final} />;
    case "cancelled":
      return <Cancelled item={item} />;
    case "compaction":
      return <Compaction item={item} />;
    case "unknown":
      return <Unknown item={item} session={session} />;
    case "hole":
      return <HoleNote item={item} />;
    case "replaying":
      return <Replaying item={item} />;
    case "diagnostic":
      return <Diagnostic item={item} />;
    case "foot":
      return <RunFoot foot={item.foot} session={session} locked={locked} />;
    default:
      return null;
  }
}
