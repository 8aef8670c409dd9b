import { once } from "node:events";
import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { ApiError } from "../protocol/api-error.ts";
import { OwnerLimits } from "./owner-limits.ts";
import { fakeResponse } from "./testkit/fake-responses.ts";
import { RawClient } from "./testkit/raw-http.ts";
import { testServer } from "./testkit/test-server.ts";

/** Requests whose token names their owner. */
const authenticate = async (headers: Headers | { authorization?: string | undefined }) => ({
  owner: String((headers as { authorization?: string }).authorization),
});

function held() {
  const gate = Promise.withResolvers<void>();
  let started = 0;
  const runPlain = async ({ id }: { id: string }) => {
    started += 1;
    await gate.promise;
    return fakeResponse(id);
  };
  return { runPlain, release: gate.resolve, started: () => started };
}

const as = (authorization: string) => ({ headers: { authorization } });

describe("the requests of an owner", () => {
  test("are limited in number, independently of other owners", async () => {
    const { runPlain, release, started } = held();
    const ownerLimits = new OwnerLimits({ requestsPerOwner: 2, bodyBytesPerOwner: 1_000_000 });
    await using server = await testServer({ runPlain }, { authenticate, ownerLimits });
    const running = [1, 2].map(() => server.post("/v1/responses", {}, as("ann")));
    await expect.poll(started).toBe(2);
    const refused = await server.post("/v1/responses", {}, as("ann"));
    expect(refused.status).toBe(429);
    expect(refused.headers.get("retry-after")).toBe("1");
    expect(await refused.json()).toEqual({
      error: {
        message: expect.stringContaining("limits.requestsPerOwner"),
        type: "rate_limit_error",
        param: null,
        code: "too_many_requests",
      },
    });
    expect((await server.fetch("/v1/models", as("bob"))).status).toBe(200);
    expect((await server.fetch("/healthz")).status).toBe(200);
    release();
    for (const answer of await Promise.all(running))
      expect(await answer.json()).toMatchObject({ status: "completed" });
    await expect.poll(() => ownerLimits.usageOf("ann")).toEqual({ requests: 0, bytes: 0 });
    expect((await server.post("/v1/responses", {}, as("ann"))).status).toBe(200);
  });

  test.each([
    ["plain", undefined, (text: string) => Buffer.from(text)],
    ["packed", "gzip", (text: string) => gzipSync(text)],
  ])("are limited by the size of their bodies together: %s", async (_name, encoding, pack) => {
    const { runPlain, release, started } = held();
    const ownerLimits = new OwnerLimits({ requestsPerOwner: 10, bodyBytesPerOwner: 100_000 });
    await using server = await testServer({ runPlain }, { authenticate, ownerLimits });
    const body = new Uint8Array(pack(JSON.stringify({ input: "x".repeat(60_000) })));
    const post = () =>
      server.fetch("/v1/responses", {
        method: "POST",
        headers: {
          authorization: "ann",
          "content-type": "application/json",
          ...(encoding && { "content-encoding": encoding }),
        },
        body,
      });
    const first = post();
    await expect.poll(started).toBe(1);
    const refused = await post();
    expect(refused.status).toBe(429);
    expect(await refused.text()).toContain("limits.bodyBytesPerOwner");
    release();
    await (await first).text();
    await expect.poll(() => ownerLimits.usageOf("ann")).toEqual({ requests: 0, bytes: 0 });
    expect((await post()).status).toBe(200);
  });

  test("that were left by their client are no longer counted", async () => {
    const { runPlain, started } = held();
    const ownerLimits = new OwnerLimits({ requestsPerOwner: 10, bodyBytesPerOwner: 100_000 });
    await using server = await testServer({ runPlain }, { authenticate, ownerLimits });
    const client = await RawClient.connect(server.port);
    client.request("POST", "/v1/responses", { authorization: "ann" }, "{}");
    await expect.poll(started).toBe(1);
    expect(ownerLimits.usageOf("ann")).toEqual({ requests: 1, bytes: 2 });
    client.socket.destroy();
    await expect.poll(() => ownerLimits.usageOf("ann")).toEqual({ requests: 0, bytes: 0 });
  });

  test("are freed once, however often they end", () => {
    const limits = new OwnerLimits({ requestsPerOwner: 1, bodyBytesPerOwner: 1 });
    const slot = limits.enter("ann");
    slot.addBytes(5);
    expect(() => limits.enter("ann")).toThrow(ApiError);
    slot.release();
    slot.release();
    slot.addBytes(5);
    expect(limits.usageOf("ann")).toEqual({ requests: 0, bytes: 0 });
  });
});

test("following a run ends with the token, without [DONE]; the run goes on", async () => {
  await using server = await testServer(
    {
      async follow(_owner, _id, _startingAfter, sink, signal) {
        sink.send("first", "1");
        await once(signal, "abort");
      },
    },
    { authenticate: async () => ({ owner: "ann", expiresAtMs: Date.now() + 200 }) },
  );
  const response = await server.fetch("/v1/responses/resp_1?stream=true");
  expect(await response.text()).toBe("event: first\ndata: 1\n\n");
});

describe("a request that does not arrive", () => {
  test.each([
    ["its headers", { headersMs: 200 }, "GET /healthz HTTP/1.1\r\nhost: 127.0.0.1\r\n"],
    [
      "its body",
      { requestMs: 200 },
      "POST /v1/responses HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 9\r\n\r\n{",
    ],
  ])("is cut off after its time: %s", async (_name, listening, text) => {
    await using server = await testServer({}, {}, listening);
    const client = await RawClient.connect(server.port);
    client.socket.write(text);
    await client.closed;
    await expect.poll(() => server.exchanges.count).toBe(0);
    expect(server.responses.calls).toEqual([]);
  });
});

test("connections above the limit are closed, and those that are open go on", async () => {
  await using server = await testServer({}, {}, { connections: 2 });
  const clients = [await RawClient.connect(server.port), await RawClient.connect(server.port)];
  const third = await RawClient.connect(server.port);
  await third.closed;
  expect(third.received).toBe("");
  for (const client of clients) {
    client.request("GET", "/healthz");
    await client.until(/"ok"/);
    client.socket.destroy();
  }
  expect(server.log()).toContainEqual(expect.objectContaining({ "limits.connections": 2 }));
});

test("a client that pipelines many requests without reading the replies is disconnected after a few", async () => {
  await using server = await testServer();
  const client = await RawClient.connect(server.port);
  client.socket.pause();
  client.socket.write("GET /openapi.json HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n".repeat(1000));
  const handled = () => server.log().filter(({ path }) => path === "/openapi.json").length;
  await expect.poll(() => server.exchanges.count === 0 && handled() > 0).toBe(true);
  expect(handled()).toBeLessThan(20);
  client.socket.resume();
  await client.closed;
});

test("large replies that an owner leaves unread count towards its bytes", async () => {
  const ownerLimits = new OwnerLimits({ requestsPerOwner: 100, bodyBytesPerOwner: 30_000_000 });
  const long = { ...fakeResponse("resp_1"), instructions: "x".repeat(20_000_000) };
  await using server = await testServer({ get: async () => long }, { authenticate, ownerLimits });
  const client = await RawClient.connect(server.port);
  client.socket.pause();
  client.request("GET", "/v1/responses/resp_1", { authorization: "ann" });
  await expect.poll(() => ownerLimits.usageOf("ann").bytes).toBeGreaterThan(20_000_000);
  expect((await server.fetch("/v1/responses/resp_1", as("ann"))).status).toBe(429);
  expect((await server.fetch("/v1/responses/resp_1", as("bob"))).status).toBe(200);
  client.socket.destroy();
  await expect.poll(() => ownerLimits.usageOf("ann")).toEqual({ requests: 0, bytes: 0 });
});

describe("every answer", () => {
  const get = (rest: string) => `GET ${rest}\r\n\r\n`;
  test.each([
    ["of a route", get("/healthz HTTP/1.1\r\nhost: 127.0.0.1"), 200],
    ["about a path that does not exist", get("/nowhere HTTP/1.1\r\nhost: 127.0.0.1"), 404],
    ["to a foreign host", get("/healthz HTTP/1.1\r\nhost: evil.example"), 403],
    ["to a request without a host", get("/healthz HTTP/1.1"), 400],
    ["to an invalid host", get("/ HTTP/1.1\r\nhost: a^b"), 403],
    ["to an address that cannot be read", get("* HTTP/1.1\r\nhost: 127.0.0.1"), 400],
    ["to what is not HTTP", "nonsense\r\n\r\n", 400],
    ["to headers that are too long", get(`/ HTTP/1.1\r\nhost: 127.0.0.1\r\nx: ${"x".repeat(20_000)}`), 431],
    ["to an unknown expectation", get("/healthz HTTP/1.1\r\nhost: 127.0.0.1\r\nexpect: tea"), 417],
    [
      "with a stream",
      'POST /v1/responses HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 15\r\n\r\n{"stream":true}',
      200,
    ],
  ])("%s says that it is only what it says, and for its own origin", async (_name, text, status) => {
    await using server = await testServer();
    const client = await RawClient.connect(server.port);
    client.socket.write(text);
    const [head] = await client.until(/^.*?\r\n\r\n/s);
    expect(head).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    expect(head.toLowerCase()).toContain("x-content-type-options: nosniff");
    expect(head.toLowerCase()).toContain("cross-origin-resource-policy: same-origin");
    client.socket.destroy();
  });
});
