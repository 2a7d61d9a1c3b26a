// Export: the raw log as JSON Lines, or what was said as Markdown.

import { Kind, Role, Source, type Entry } from "../protocol.gen.ts";
import { textOf } from "../state/item.ts";
import type { Outcome } from "../state/types.ts";
import type { Rest } from "../wire/rest.ts";

/** Events on one page of the log, the most that the server gives. */
const most = 1_000;

export function downloads(rest: Rest, window: Window & typeof globalThis) {
  return async (session: string, title: string, what: "log" | "conversation"): Promise<Outcome> => {
    const text = what === "log" ? await log(rest, session) : await conversation(rest, session, title);
    if (!text.ok) {
      return text;
    }
    const [type, ending] = what === "log" ? ["application/x-ndjson", "jsonl"] : ["text/markdown", "md"];
    const url = window.URL.createObjectURL(new Blob([text.value], { type }));
    const link = window.document.createElement("a");
    link.href = url;
    link.download = `${session}.${ending}`;
    link.click();
    setTimeout(() => window.URL.revokeObjectURL(url), 60_000); // the browser reads it after the click
    return { ok: true, value: undefined };
  };
}

async function log(rest: Rest, session: string): Promise<Outcome<string>> {
  let text = "";
  for (let from = 0; ; from += most) {
    const page = await rest.events(session, from, most);
    if (!page.ok) {
      return page;
    }
    text += page.value.map((event) => JSON.stringify(event) + "\n").join("");
    if (page.value.length < most) {
      return { ok: true, value: text };
    }
  }
}

async function conversation(rest: Rest, session: string, title: string): Promise<Outcome<string>> {
  const all = await rest.messages(session, 0, "");
  if (!all.ok) {
    return all;
  }
  const parts = (all.value.entries as readonly Entry[]).filter((e) => e.on_path).map(said).filter((part) => part !== "");
  return { ok: true, value: [`# ${title}`, ...parts].join("\n\n") + "\n" };
}

/** What an entry says in a conversation; "" = nothing that a reader looks for. */
function said(entry: Entry): string {
  const payload = entry.payload as { role?: string; content?: unknown; summary?: unknown; name?: string; arguments?: string };
  if (entry.kind === Kind.Compaction) {
    return `> Summary: ${String(payload.summary).replaceAll("\n", "\n> ")}`;
  }
  const { text } = textOf(payload.content);
  if (entry.kind === Kind.Item && entry.source.type === Source.User && payload.role === Role.User) {
    return `**You**\n\n${text}`;
  }
  if (entry.kind === Kind.Item && payload.role === Role.Assistant && text !== "") {
    return `**Agent**\n\n${text}`;
  }
  return payload.name && payload.arguments ? `**Call ${payload.name}** \`${payload.arguments}\`` : "";
}
