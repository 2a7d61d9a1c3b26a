// The list of sessions.

import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { callsOf, groupsOf, isUnread, type Groups } from "../../state/select.ts";
import type { SessionRow } from "../../state/types.ts";
import { age, instant } from "../format.ts";
import { Brandmark, Icon, IconButton, Status } from "../icons.tsx";
import { connected, connectionGlyph, sessionLook, titleOf } from "../words.ts";
import { useConnectionWord } from "../clock.ts";
import { type Hit, usePage } from "../page.ts";
import { Link } from "../link.tsx";
import { toSession } from "../route.ts";
import { AccountMenu } from "./account.tsx";
import { RowMenu } from "./rowmenu.tsx";
import { asked, held, matches } from "./order.ts";

const chunk = 100; // rows shown before the list is scrolled to its end

export function Sessions({ onNew }: { onNew: () => void }) {
  const query = useSignal("");
  return (
    <nav class="side" aria-label="Sessions">
      <div class="brand">
        <Brandmark />
        <span class="grow">Hitchpost</span>
        <IconButton icon="plus" label="New session" title="New session  (N)" onClick={onNew} />
      </div>
      <label class="find">
        <Icon name="search" />
        <input
          id="search" type="search" placeholder="Search sessions" aria-label="Search sessions" autocomplete="off" value={query.value}
          onInput={(e) => (query.value = e.currentTarget.value)}
        />
        <kbd aria-hidden="true">/</kbd>
      </label>
      <Rows query={query.value} />
      <Foot />
    </nav>
  );
}

function Foot() {
  const { connection } = usePage();
  const word = useConnectionWord();
  return (
    <div class="foot" role="status" aria-live="off">
      <Status is={connectionGlyph(connection.value)} />
      <span class="grow muted num">{word}</span>
      <AccountMenu />
    </div>
  );
}

function Rows({ query }: { query: string }) {
  const page = usePage();
  const shown = useSignal(chunk);
  const busy = useSignal(false); // pointer or focus is in the list
  const before = useRef<Groups | null>(null);
  const rows = page.rows.value;
  const list = page.list.value;

  let groups = groupsOf({ rows, standing: page.standing.value });
  if (busy.value && before.current) {
    groups = held(before.current, groups);
  }
  before.current = groups;

  if (rows.size === 0 && list === "failed") {
    return (
      <div class="list">
        <p class="words">
          Sessions could not be read.
          <br />
          <button type="button" class="btn small" onClick={() => page.act.reload()}>Try again</button>
        </p>
      </div>
    );
  }
  if (rows.size === 0) {
    return <div class="list">{list === "ready" && <p class="words">Sessions appear here. They keep working when this page is closed.</p>}</div>;
  }
  const filter = (group: readonly SessionRow[]): readonly SessionRow[] => (query.trim() === "" ? group : group.filter((row) => matches(row, query)));
  const need = filter(groups.needs);
  const pinned = filter(groups.pinned);
  const recent = filter(groups.recent);
  const none = need.length + pinned.length + recent.length === 0;
  return (
    <div
      class="list" tabIndex={-1}
      onPointerEnter={() => (busy.value = true)} onPointerLeave={() => (busy.value = false)}
      onFocusIn={() => (busy.value = true)} onFocusOut={() => (busy.value = false)}
      onScroll={(e) => {
        const { scrollHeight, scrollTop, clientHeight } = e.currentTarget;
        if (scrollHeight - scrollTop - clientHeight < 400 && shown.value < recent.length) {
          shown.value += chunk;
        }
      }}
    >
      <Group name="Needs you" rows={need} />
      <Group name="Pinned" rows={pinned} />
      <Group name="Recent" rows={recent.slice(0, shown.value)} />
      {query.trim() !== "" && <Hits query={query.trim()} alone={none} />}
    </div>
  );
}

function Group({ name, rows }: { name: string; rows: readonly SessionRow[] }) {
  return rows.length === 0 ? null : (
    <>
      <h2>{name}</h2>
      <ul>{rows.map((row) => <Row key={row.id} row={row} />)}</ul>
    </>
  );
}

function Row({ row }: { row: SessionRow }) {
  const { standing, now, connection, route, local } = usePage();
  const at = route.value;
  const current = at.at === "session" && at.session === row.id;
  const unread = isUnread(row, local.readMark(row.id)) && !current;
  const look = sessionLook(row, callsOf(standing.value, row.id), connected(connection.value), unread);
  return (
    <li class="item">
      <Link class={`row${unread ? " unread" : ""}`} to={toSession(row.id)} aria-current={current ? "page" : undefined}>
        <Status is={look.glyph} />
        <b class="clip foreign">{titleOf(row)}</b>
        <time class="when num" dateTime={asked(row)} title={instant(asked(row))}>{age(asked(row), now.value)}</time>
        <small class={`clip ${look.tone}`.trimEnd()}>{look.line}</small>
        {unread && <span class="dot"><span class="sr">unread</span></span>}
      </Link>
      <RowMenu row={row} />
    </li>
  );
}

/** Hits in the texts, below the titles. */
function Hits({ query, alone }: { query: string; alone: boolean }) {
  const { act, rows } = usePage();
  const found = useSignal<{ query: string; hits: readonly Hit[]; why: string } | null>(null);
  useEffect(() => {
    let asked = true; // an answer to what is asked no more may come after the one that counts
    const timer = setTimeout(async () => {
      const outcome = await act.search(query);
      if (asked) {
        found.value = { query, hits: outcome.ok ? outcome.value : [], why: outcome.ok ? "" : "The texts could not be searched." };
      }
    }, 200);
    return () => {
      asked = false;
      clearTimeout(timer);
    };
  }, [query]);
  const now = found.value?.query === query ? found.value : null;
  if (now && now.why !== "") {
    return <p class="words">{now.why}</p>;
  }
  const hits = now?.hits.filter((hit) => hit.entry_id !== "") ?? [];
  if (hits.length === 0) {
    return now && alone ? <p class="words">No session has “{query}” in its title or texts.</p> : null;
  }
  return (
    <>
      <h2>In texts</h2>
      <ul>
        {hits.map((hit) => (
          <li>
            <Link class="hit" to={{ at: "session", session: hit.session_id, entry: hit.entry_id, panel: null }}>
              <b class="clip foreign">{titleOf(rows.value.get(hit.session_id) ?? { id: hit.session_id, title: "" })}</b>
              <small class="foreign">{hit.snippet}</small>
            </Link>
          </li>
        ))}
      </ul>
    </>
  );
}
