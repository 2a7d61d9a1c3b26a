// What is read aloud by itself: that a run started or ended, that a call waits, and the
// connection. Nothing that streams.

import { useEffect, useRef } from "preact/hooks";
import { SessionStatus } from "../protocol.gen.ts";
import { callsOf } from "../state/select.ts";
import { say } from "./live.ts";
import { usePage } from "./page.ts";

export function useAnnouncements(): void {
  const { rows, standing, connection, route } = usePage();
  const at = route.value;
  const session = at.at === "session" ? at.session : "";
  const row = rows.value.get(session);
  const { phase } = connection.value;
  const calls = callsOf(standing.value, session);
  const before = useRef({ session: "", run: "", status: "", calls: new Set<string>(), phase: "" });

  useEffect(() => {
    const was = before.current;
    const keys = new Set(calls.map((call) => `${call.run_id} ${call.tool_call_id}`));
    if (was.session === session && row) {
      const fresh = calls.find((call) => !was.calls.has(`${call.run_id} ${call.tool_call_id}`));
      const run = row.live_run_id ?? "";
      if (fresh) {
        say(`${fresh.tool_name} waits for approval`);
      } else if (run !== "" && run !== was.run) {
        say("Run started");
      } else if (run === "" && was.run !== "") {
        say(row.status === SessionStatus.Failed ? `Run failed: ${row.last_error?.message ?? ""}` : "Run finished");
      }
    }
    before.current = { session, run: row?.live_run_id ?? "", status: row?.status ?? "", calls: keys, phase: was.phase };
  }, [session, row?.live_run_id, row?.status, calls]);

  useEffect(() => {
    const was = before.current.phase;
    if (phase === "live" && was === "down") {
      say("Connected");
      before.current.phase = "up";
    } else if (phase === "live") {
      before.current.phase = "up";
    } else if ((phase === "waiting" || phase === "offline") && was === "up") {
      say("No connection");
      before.current.phase = "down";
    }
  }, [phase]);
}
