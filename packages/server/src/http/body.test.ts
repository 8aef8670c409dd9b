import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { PassThrough } from "node:stream";
import { setImmediate as nextTick } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { brotliCompressSync, gzipSync } from "node:zlib";
import fc from "fast-check";
import { expect, test } from "vitest";
import { parseJson, readJson } from "./body.ts";
import { RawClient } from "./testkit/raw-http.ts";
import { type TestServer, testServer } from "./testkit/test-server.ts";

const json = { "content-type": "application/json" };

async function send(
  server: TestServer,
  body: string | Uint8Array<ArrayBuffer>,
  headers: Record<string, string> = json,
) {
  const response = await server.fetch("/v1/responses", { method: "POST", body, headers });
  const answer = (await response.json()) as { error?: { message: string; code: string } };
  return { status: response.status, ...answer.error };
}

function received(server: TestServer): unknown {
  return server.responses.calls.find(({ name }) => name === "prepare")?.args[1];
}

test.each([
  "application/json",
  "application/json; charset=utf-8",
  'Application/JSON;charset="UTF-8"',
  "application/vnd.api+json",
])("a body of type %s is read", async (type) => {
  await using server = await testServer();
  expect(await send(server, '{"input":"ä"}', { "content-type": type })).toMatchObject({ status: 200 });
  expect(received(server)).toEqual({ input: "ä" });
});

test("a body without a type is read", async () => {
  await using server = await testServer();
  const client = await RawClient.connect(server.port);
  client.request("POST", "/v1/responses", { connection: "close" }, "{}");
  await client.closed;
  expect(client.received).toMatch(/^HTTP\/1\.1 200 /);
});

test.each(["text/plain", "application/json; charset=latin1", "multipart/form-data; boundary=x", "json"])(
  "a body of type %s is a 415 that names the type",
  async (type) => {
    await using server = await testServer();
    const { status, message } = await send(server, "{}", { "content-type": type });
    expect(status).toBe(415);
    expect(message).toContain(type);
  },
);

test.each([
  ['{"input": "hi",\n "model": }', 'unexpected token \'}\', ..." "model": }"'],
  ['{"input": "hi",\n model: 1}', "expected double-quoted property name (line 2 column 2)"],
  ['{"input": "hi"} {}', "unexpected non-whitespace character after JSON (line 1 column 17)"],
  ['{"input": ', "the JSON ends too early (line 1)"],
  ['{\n"input": "hi', "the JSON ends too early (line 2)"],
  ['{"input": "hi",\n\n', "the JSON ends too early (line 3)"],
])("%j is a 400 that says what is wrong", async (body, fault) => {
  await using server = await testServer();
  const message = `The body is not valid JSON: ${fault}.`;
  expect(await send(server, body)).toMatchObject({ status: 400, message, code: "invalid_json" });
});

test.each([
  ["", "The body is empty. Expected a JSON object."],
  [new Uint8Array([0x22, 0xff, 0x22]), "The body is not valid UTF-8."],
])("%j is a 400", async (body, message) => {
  await using server = await testServer();
  expect(await send(server, body)).toMatchObject({ status: 400, message, code: "invalid_json" });
});

test("long and deep texts do not exhaust the stack", () => {
  const wrong = {
    code: "invalid_json",
    message: expect.stringContaining("the JSON ends too early (line 1)"),
  };
  for (const text of [`["${"x".repeat(5_000_000)}`, "[".repeat(1_000_000)]) {
    let thrown: unknown;
    try {
      parseJson(Buffer.from(text));
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toMatchObject(wrong);
  }
});

test("a byte order mark is accepted", async () => {
  await using server = await testServer();
  expect(await send(server, "\ufeff{}")).toMatchObject({ status: 200 });
});

test("a body at the limit is read, and one byte more is a 413 that names the limit", async () => {
  await using server = await testServer({}, { bodyBytes: 100 });
  const bodyOf = (bytes: number) => JSON.stringify("x".repeat(bytes - 2));
  expect(await send(server, bodyOf(100))).toMatchObject({ status: 200 });
  expect(await send(server, bodyOf(101))).toMatchObject({
    status: 413,
    message: "The body is larger than 100 bytes, this server's limit (limits.bodyBytes).",
  });
});

test("a body without a length is stopped at the limit, and its connection is closed", async () => {
  await using server = await testServer({}, { bodyBytes: 1000 });
  const client = await RawClient.connect(server.port);
  client.request("POST", "/v1/responses", { ...json, "transfer-encoding": "chunked" });
  // It never ends, so the answer cannot have waited for the end.
  while (!client.socket.destroyed) {
    const isRoom = client.socket.write(`400\r\n${"x".repeat(1024)}\r\n`);
    await (isRoom || client.socket.destroyed
      ? nextTick()
      : Promise.race([once(client.socket, "drain"), client.closed]));
  }
  expect(client.received).toMatch(/^HTTP\/1\.1 413 /);
  expect(client.received).toContain("1000 bytes");
});

test("a gzipped body is decompressed", async () => {
  await using server = await testServer();
  const body = new Uint8Array(gzipSync('{"input":"packed"}'));
  expect(await send(server, body, { ...json, "content-encoding": "gzip" })).toMatchObject({ status: 200 });
  expect(received(server)).toEqual({ input: "packed" });
});

test("a small gzipped body that becomes large is a 413", async () => {
  await using server = await testServer({}, { bodyBytes: 100_000 });
  const bomb = new Uint8Array(gzipSync(`"${"x".repeat(10_000_000)}"`));
  expect(bomb.length).toBeLessThan(100_000);
  expect(await send(server, bomb, { ...json, "content-encoding": "gzip" })).toMatchObject({ status: 413 });
});

test("a body that is declared as gzip and is not is a 400", async () => {
  await using server = await testServer();
  const cut = new Uint8Array(gzipSync('{"input":"packed"}').subarray(0, -10));
  for (const body of ["{}", cut])
    expect(await send(server, body, { ...json, "content-encoding": "gzip" })).toMatchObject({ status: 400 });
});

test("other encodings are a 415", async () => {
  await using server = await testServer();
  const body = new Uint8Array(brotliCompressSync("{}"));
  const { status, message } = await send(server, body, { ...json, "content-encoding": "br" });
  expect(status).toBe(415);
  expect(message).toContain("gzip");
});

test("a client that disconnects in the middle of its body leaves nothing behind", async () => {
  await using server = await testServer();
  const client = await RawClient.connect(server.port);
  client.request("POST", "/v1/responses", { ...json, "content-length": "100" });
  client.socket.write('{"inp', () => client.socket.destroy());
  await client.closed;
  await server.exchanges.whenIdle();
  expect(server.responses.calls).toEqual([]);
  expect(server.log().filter(({ level }) => level === "error")).toEqual([]);
});

test("a body is read correctly in whatever chunks it arrives", async () => {
  await using server = await testServer();
  await fc.assert(
    fc.asyncProperty(
      fc.jsonValue(),
      fc.array(fc.nat({ max: 50 }), { maxLength: 5 }),
      async (value, sizes) => {
        server.responses.calls.length = 0;
        const bytes = Buffer.from(JSON.stringify(value));
        const client = await RawClient.connect(server.port);
        client.request("POST", "/v1/responses", {
          ...json,
          connection: "close",
          "content-length": String(bytes.length),
        });
        let at = 0;
        for (const size of sizes) {
          client.socket.write(bytes.subarray(at, at + size));
          at += size;
          await nextTick();
        }
        client.socket.write(bytes.subarray(at));
        await client.closed;
        expect(client.received).toMatch(/^HTTP\/1\.1 200 /);
        expect(received(server)).toEqual(JSON.parse(bytes.toString()));
      },
    ),
    { numRuns: 50 },
  );
});

test.each(["one", "two"])("a body of %s chunks is freed while its reply is in flight", async (chunks) => {
  setFlagsFromString("--expose-gc");
  const collectGarbage = runInNewContext("gc") as () => void;
  const request = Object.assign(new PassThrough(), { headers: {} }) as unknown as IncomingMessage &
    PassThrough;
  const reading = readJson(request, { limitBytes: 1000 });
  const piece = new WeakRef(sendPiece(request));
  request.end(chunks === "one" ? undefined : " ");
  expect((await reading).value).toEqual(["a", "b"]);

  for (let pass = 0; pass < 2; pass += 1) {
    await nextTick();
    collectGarbage();
  }
  expect(request.listenerCount("error")).toBeGreaterThan(0);
  expect(piece.deref()).toBeUndefined();
});

test.each([
  [{}, {}, {}],
  [{}, { keepsText: true }, { text: ' {"a": 1}' }],
  [{ "idempotency-key": "k" }, {}, { fingerprint: "E12cfrzTS7uMF32OEzBj5jBBDkrjG4tVQZWQGVv2kdE" }],
])("with the headers %o and the options %o, a body also has %o", async (headers, options, expected) => {
  const request = Object.assign(new PassThrough(), { headers }) as unknown as IncomingMessage & PassThrough;
  request.end(' {"a": 1}');
  expect(await readJson(request, { limitBytes: 100, ...options })).toEqual({ value: { a: 1 }, ...expected });
});

function sendPiece(request: PassThrough): Buffer {
  const piece = Buffer.from('["a","b"]');
  request.write(piece);
  return piece;
}
