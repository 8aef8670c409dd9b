// Anything may come over the wire. Whatever it is, it gets an answer that is good or says what was wrong with it,
// every stream ends, and the server goes on as if nothing had been.

import { gzipSync } from "node:zlib";
import fc from "fast-check";
import { expect, onTestFinished, test, vi } from "vitest";
import { RawClient } from "../http/testkit/raw-http.ts";
import { change, fields, json, mutated, nasty, whole } from "../protocol/testkit/wild-bodies.ts";
import { tempFolder } from "../store/testkit/temp-folder.ts";
import { hugeBodies } from "./testkit/huge-bodies.ts";
import { publicDefinitions } from "./testkit/public-schema.ts";
import { valuesOf } from "./testkit/values-of-schema.ts";
import { answerFlaw, startWild, type WildServer } from "./testkit/wild-server.ts";

// More with FUZZ_RUNS=5000, where someone has the time.
const numRuns = Number(process.env["FUZZ_RUNS"] ?? 100);
const timeout = 600_000;
const createPaths = fc.constantFrom("/v1/responses", "/v1/responses", "/v1/responses/input_tokens");

/** A server with a database, as most have. */
function startKept(): Promise<WildServer> {
  const folder = tempFolder();
  onTestFinished(() => folder[Symbol.dispose]());
  return startWild({ store: `sqlite:${folder.path}/rondo.db` });
}

/** Whether the server still does its work, and has none left of what came before. */
async function expectHealthy(server: WildServer): Promise<void> {
  expect((await server.send({ method: "GET", path: "/readyz" })).status).toBe(200);
  expect((await server.post("/v1/responses", { input: "Hi." })).status).toBe(200);
  await vi.waitFor(async () => {
    const { text } = await server.send({ method: "GET", path: "/metrics" });
    expect(text).toContain("rondo_open_streams 0");
    expect(text).toContain('rondo_background_runs{state="queued"} 0');
    expect(text).toContain('rondo_background_runs{state="running"} 0');
  });
}

/** Bodies that get further: parts of the one that uses everything, some of them changed. */
const partly = fc
  .record({
    kept: fc.subarray(fields),
    changes: fc.array(change, { maxLength: 2 }),
    given: fc.dictionary(fc.constantFrom(...fields), nasty, { maxKeys: 2 }),
  })
  .map(({ kept, changes, given }) => {
    const all = mutated(changes) as Record<string, unknown>;
    const names = kept.filter((name) => name !== "previous_response_id" && Object.hasOwn(all, name));
    const parts = Object.fromEntries(names.map((name) => [name, all[name]]));
    const items = parts["input"];
    if (Array.isArray(items)) parts["input"] = items.filter((item) => Object(item).type !== undefined);
    return { input: "Hi.", ...parts, model: "test", ...given };
  });

/** Bodies that are right by the public types. */
const rightByType = fc
  .tuple(
    valuesOf({ $ref: "#/$defs/ResponseCreateParamsNonStreaming" }, publicDefinitions, 8),
    fc.record({ stream: fc.boolean(), background: fc.boolean() }),
  )
  .map(([body, how]) => {
    const { conversation: _, previous_response_id: _previous, store: _store, ...rest } = Object(body);
    return { input: "Hi.", ...rest, model: "test", ...how };
  });

test.each([
  ["any JSON", json],
  ["all fields, with some of them changed", fc.array(change, { maxLength: 3 }).map(mutated)],
  ["some fields, with some of them changed", partly],
  ["what the public types allow", rightByType],
])("a request with %s is answered", { timeout }, async (_name, bodies: fc.Arbitrary<unknown>) => {
  const server = await startKept();
  await fc.assert(
    fc.asyncProperty(createPaths, bodies, async (path, body) => {
      expect(answerFlaw(await server.post(path, body))).toBeUndefined();
    }),
    { numRuns },
  );
  await expectHealthy(server);
});

test("a body of any bytes is answered, also one that is nearly JSON, or packed", { timeout }, async () => {
  const server = await startKept();
  const good = Buffer.from(JSON.stringify({ ...whole, previous_response_id: null, model: "test" }));
  const cuts = fc.record({
    at: fc.nat(good.length),
    length: fc.nat(20),
    bytes: fc.uint8Array({ maxLength: 8 }),
  });
  const spliced = cuts.map(({ at, length, bytes }) =>
    Buffer.concat([good.subarray(0, at), bytes, good.subarray(at + length)]),
  );
  const body = fc.oneof(
    fc.uint8Array(),
    spliced,
    spliced.map((bytes) => gzipSync(bytes)),
  );
  const headers = fc.record(
    {
      "content-type": fc.oneof(
        fc.constantFrom(
          "application/json",
          "text/plain",
          "application/json; charset=utf-16",
          "application/*",
        ),
        fc.string({ unit: "binary-ascii" }).map(printable),
      ),
      "content-encoding": fc.constantFrom("gzip", "identity", "br", "gzip, gzip", "x"),
      authorization: fc.string({ unit: "binary-ascii" }).map(printable),
      "x-request-id": fc.string({ unit: "binary-ascii" }).map(printable),
      accept: fc.constantFrom("text/event-stream", "text/html", "x"),
    },
    { requiredKeys: [] },
  );
  await fc.assert(
    fc.asyncProperty(createPaths, body, headers, async (path, bytes, given) => {
      const answer = await server.send({ method: "POST", path, headers: given, body: bytes });
      expect(answerFlaw(answer)).toBeUndefined();
    }),
    { numRuns },
  );
  await expectHealthy(server);
});

test("any method, path and query is answered", { timeout }, async () => {
  const server = await startKept();
  const made = JSON.parse((await server.post("/v1/responses", { input: "Hi.", background: true })).text);
  const escaped = fc.oneof(
    fc.string({ unit: "binary" }).map(encodeText),
    fc.constantFrom("%", "%ff", "%00", "%2f", "..", "%2e%2e", "resp_1", made.id, "%f0%9f", "input_items"),
  );
  const part = fc.oneof(
    fc.constantFrom("v1", "responses", "models", "cancel", "input_items", "input_tokens", "metrics", ""),
    escaped,
  );
  const known = escaped.chain((id) =>
    fc.constantFrom(
      "/v1/responses",
      `/v1/responses/${id}`,
      `/v1/responses/${id}/cancel`,
      `/v1/responses/${id}/input_items`,
      `/v1/models/${id}`,
    ),
  );
  const path = fc.oneof(
    known,
    fc.array(part, { maxLength: 5 }).map((parts) => `/${parts.join("/")}`),
  );
  const names = [
    "limit",
    "order",
    "after",
    "before",
    "status",
    "model",
    "background",
    "stream",
    "starting_after",
  ];
  const value = fc.oneof(
    fc.constantFrom("1", "0", "-1", "asc", "true", "1e9", "9007199254740993", "null", "NaN", "", made.id),
    escaped,
  );
  const query = fc
    .array(fc.tuple(fc.constantFrom(...names, "include", "include[]", "x"), value), { maxLength: 4 })
    .map((pairs) => pairs.map((pair) => pair.join("=")).join("&"));
  const method = fc.constantFrom(
    "GET",
    "GET",
    "GET",
    "POST",
    "DELETE",
    "HEAD",
    "PUT",
    "PATCH",
    "OPTIONS",
    "TRACE",
  );
  await fc.assert(
    fc.asyncProperty(method, path, query, async (verb, where, asked) => {
      const answer = await server.send({ method: verb, path: `${where}?${asked}` });
      expect(answerFlaw(answer, verb)).toBeUndefined();
    }),
    { numRuns: 2 * numRuns },
  );
  await expectHealthy(server);
});

test("a request with too much of anything is answered, plain, streamed and in the background", {
  timeout,
}, async () => {
  const server = await startKept();
  const kinds = ["", '"stream":true,', '"background":true,"stream":true,'];
  for (const [name, body] of hugeBodies) {
    for (const kind of kinds) {
      const answer = await server.post("/v1/responses", body.replace(/^\{/, `{${kind}`));
      expect({ name, flaw: answerFlaw(answer) }).toEqual({ name, flaw: undefined });
    }
    const answer = await server.post("/v1/responses/input_tokens", body);
    expect({ name, flaw: answerFlaw(answer) }).toEqual({ name, flaw: undefined });
  }
  const list = await server.send({ method: "GET", path: "/v1/responses?limit=100" });
  expect(answerFlaw(list, "GET")).toBeUndefined();
  await expectHealthy(server);
});

test("what is not HTTP, or is cut off anywhere, ends its connection alone", { timeout }, async () => {
  const server = await startKept();
  const port = Number(new URL(server.server.baseURL).port);
  const body = JSON.stringify({ input: "Hi.", stream: true });
  const whole = `POST /v1/responses HTTP/1.1\r\nhost: x\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
  const chunked = `POST /v1/responses HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;
  const cut = fc.record({
    text: fc.constantFrom(whole, chunked),
    at: fc.nat(chunked.length),
    bytes: fc.uint8Array({ maxLength: 6 }),
  });
  const sent = fc.oneof(
    fc.uint8Array().map((bytes) => Buffer.from(bytes)),
    cut.map(({ text, at, bytes }) =>
      Buffer.concat([Buffer.from(text.slice(0, at)), bytes, Buffer.from(text.slice(at))]),
    ),
    cut.map(({ text, at }) => Buffer.from(text.slice(0, at))),
  );
  await fc.assert(
    fc.asyncProperty(sent, async (bytes) => {
      const client = await RawClient.connect(port);
      client.socket.end(bytes);
      await client.closed;
      for (const [, status] of client.received.matchAll(/^HTTP\/1\.1 (\d+)/gm))
        expect(Number(status)).toBeLessThan(500);
    }),
    { numRuns },
  );
  await expectHealthy(server);
});

function printable(text: string): string {
  return text.replace(/[^\t\x20-\x7e]/g, "");
}

function encodeText(text: string): string {
  return encodeURIComponent(text.toWellFormed());
}
