// The REST client against a real server of this machine.

import assert from "node:assert/strict";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { Queue } from "../src/protocol.gen.ts";
import { usageLines } from "../src/app/actions.ts";
import { Rest } from "../src/wire/rest.ts";

async function serve(answer: (q: IncomingMessage, r: ServerResponse) => void, use: (rest: Rest, heard: number[]) => Promise<void>): Promise<void> {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const heard: number[] = [];
  const rest = new Rest({
    fetch: (path, init) => fetch(origin + String(path), init), token: () => "secret", now: Date.now, heard: (status) => heard.push(status),
  });
  try {
    await use(rest, heard);
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
}

test("a run is started with its key, its token and its text", async () => {
  await serve((q, r) => {
    let body = "";
    q.on("data", (chunk) => (body += String(chunk)));
    q.on("end", () => {
      assert.equal(q.url, "/api/v1/sessions/a%2Fb/runs");
      assert.equal(q.headers["idempotency-key"], "k1");
      assert.equal(q.headers.authorization, "Bearer secret");
      assert.deepEqual(JSON.parse(body), { input: "hello" });
      r.writeHead(201).end('{"run_id":"r","session_id":"a/b","status":"running"}');
    });
  }, async (rest, heard) => {
    const got = await rest.start("a/b", "hello", "k1");
    assert.deepEqual(got, { ok: true, value: { run_id: "r", session_id: "a/b", status: "running" } });
    assert.deepEqual(heard, [201]);
  });
});

test("a refusal keeps its code, its status and its words", async () => {
  await serve((_, r) => r.writeHead(409).end('{"error":{"code":"conflict","message":"a run is going"}}'), async (rest) => {
    assert.deepEqual(await rest.inject("r", Queue.Steer, "x"), { ok: false, code: "conflict", status: 409, message: "a run is going" });
  });
});

test("an answer that is not the server's own is still a refusal", async () => {
  await serve((_, r) => r.writeHead(502).end("<html>Bad gateway"), async (rest) => {
    assert.deepEqual(await rest.sessions(), { ok: false, code: "internal", status: 502, message: "" });
  });
});

test("no answer is unreachable: nobody knows whether it arrived", async () => {
  await serve((q) => q.socket.destroy(), async (rest, heard) => {
    assert.deepEqual(await rest.start("s", "x", "k"), { ok: false, code: "unreachable", status: 0, message: "" });
    assert.deepEqual(heard, [0]);
  });
});

test("a page tells up to where of the log it knows", async () => {
  await serve((q, r) => {
    assert.equal(q.url, "/api/v1/sessions/s/messages?limit=2&before_id=e9");
    r.writeHead(200, { "X-Log-Seq": "41" }).end('[{"id":"e1"},{"id":"e2"}]');
  }, async (rest) => {
    const got = await rest.messages("s", 2, "e9");
    assert.ok(got.ok);
    assert.equal(got.value.logSeq, 41);
    assert.equal(got.value.entries.length, 2);
  });
});

test("the clock follows the server's, and does not jump for less than a second", async () => {
  let date = new Date(Date.now() + 3_600_000).toUTCString();
  await serve((_, r) => r.writeHead(200, { Date: date }).end("[]"), async (rest) => {
    await rest.sessions();
    assert.ok(Math.abs(rest.clockOffset - 3_600_000) < 2_000);
    const before = rest.clockOffset;
    date = new Date(Date.now() + before).toUTCString();
    await rest.sessions();
    assert.equal(rest.clockOffset, before);
  });
});

test("a hole is read from the run's own stream, up to its end and no further", async () => {
  await serve((q, r) => {
    assert.equal(q.url, "/api/v1/runs/r/events?from_seq=4");
    r.writeHead(200, { "Content-Type": "text/event-stream" });
    r.write(": ping\n\nid: 5\nevent: run.delta\ndata: {\"a\":");
    r.write("5}\n\ndata: {\"member\":1}\n\nid: 7\nevent: run.entry\ndata: {\"a\":7}\n\nid: 9\ndata: {\"a\":9}\n\n");
    // It goes on for as long as the run does: the client hangs up.
  }, async (rest) => {
    const got = await rest.frames("r", 4, 9, new AbortController().signal);
    assert.deepEqual(got, { ok: true, value: ['{"a":5}', '{"member":1}', '{"a":7}'] });
  });
});

test("a stream that ends before the hole does fills nothing", async () => {
  await serve((_, r) => r.writeHead(200).end("id: 5\ndata: {}\n\n"), async (rest) => {
    const got = await rest.frames("r", 4, 9, new AbortController().signal);
    assert.equal(got.ok, false);
  });
});

test("what no provider told is no usage of nothing", () => {
  assert.deepEqual(usageLines({ answers: 2, input_tokens: 0, output_tokens: 0, cost: 0, complete: false }), []);
  assert.deepEqual(usageLines({ answers: 2, input_tokens: 9, output_tokens: 1, cost: 0, complete: true }), [{ model: "", input_tokens: 9, output_tokens: 1, cost: null }]);
});
