import fc from "fast-check";
import { expect, test, vi } from "vitest";
import { ApiError, notFound } from "../protocol/api-error.ts";
import { StoreError } from "../store/store-error.ts";
import { createLogger } from "./log.ts";
import { Readiness } from "./readiness.ts";
import { fakeResponse } from "./testkit/fake-responses.ts";
import { RawClient } from "./testkit/raw-http.ts";
import { testServer } from "./testkit/test-server.ts";

test("a plain request is prepared for its owner, run, and gets a JSON reply", async () => {
  await using server = await testServer({}, { authenticate: async () => ({ owner: "key:ann" }) });
  const response = await server.post("/v1/responses", { model: "m", input: "hi" });
  expect(response.status).toBe(200);
  expect(response.headers.get("content-type")).toBe("application/json");
  expect(await response.json()).toEqual(fakeResponse("resp_1"));
  expect(server.responses.calls.map(({ name }) => name)).toEqual(["prepare", "runPlain"]);
  expect(server.responses.calls[0]?.args.slice(0, 2)).toEqual(["key:ann", { model: "m", input: "hi" }]);
});

test("a streamed request gets a stream of events", async () => {
  await using server = await testServer();
  const response = await server.post("/v1/responses", { stream: true });
  expect(response.headers.get("content-type")).toBe("text/event-stream; charset=utf-8");
  expect(response.headers.get("x-request-id")).toMatch(/^req_/);
  expect(await response.text()).toMatch(/^event: response\.completed\ndata: \{.*\}\n\ndata: \[DONE\]\n\n$/);
});

test("a background request is queued, and gets its reply at once", async () => {
  await using server = await testServer();
  const response = await server.post("/v1/responses", { background: true });
  expect(await response.json()).toEqual(fakeResponse("resp_1", "queued"));
  expect(server.responses.calls.map(({ name }) => name)).toEqual(["prepare", "enqueue"]);
});

test("a background request with stream is queued, and then followed from its first event", async () => {
  await using server = await testServer({
    follow: async (_owner, _id, startingAfter, sink) => sink.send("a", String(startingAfter)),
  });
  const response = await server.post("/v1/responses", { background: true, stream: true });
  expect(await response.text()).toBe("event: a\ndata: -1\n\ndata: [DONE]\n\n");
  expect(server.responses.calls.map(({ name }) => name)).toEqual(["prepare", "enqueue", "follow"]);
});

test.each<[method: string, path: string, name: string, args: unknown[]]>([
  ["GET", "/v1/responses/resp_9", "get", ["local", "resp_9"]],
  ["GET", "/v1/responses/resp_9?include[]=a&include[]=b", "get", ["local", "resp_9"]],
  ["DELETE", "/v1/responses/resp_9", "remove", ["local", "resp_9"]],
  ["POST", "/v1/responses/resp_9/cancel", "cancel", ["local", "resp_9"]],
  [
    "GET",
    "/v1/responses/resp_9/input_items?limit=5&order=asc&after=x",
    "inputItems",
    ["local", "resp_9", { limit: 5, order: "asc", after: "x" }],
  ],
  [
    "GET",
    "/v1/responses?status=failed&background=true",
    "list",
    ["local", { limit: 20, order: "desc", status: "failed", background: true }],
  ],
  ["GET", "/v1/responses/", "list", ["local", { limit: 20, order: "desc" }]],
  ["GET", "/v1/models", "listModels", []],
])("%s %s asks for %s", async (method, path, name, args) => {
  await using server = await testServer();
  const response = await server.fetch(path, { method });
  expect(response.status).toBe(200);
  const calls = server.responses.calls.filter((call) => call.name !== "modelServerHealth");
  expect(calls).toEqual([{ name, args }]);
});

test("the tokens of an input are counted", async () => {
  await using server = await testServer();
  const response = await server.post("/v1/responses/input_tokens", { input: "hi" });
  expect(await response.json()).toEqual({ object: "response.input_tokens", input_tokens: 7 });
  expect(server.responses.calls).toEqual([{ name: "countInputTokens", args: ["local", { input: "hi" }] }]);
});

test.each(["/v1/models/org%2Fmodel", "/v1/models/org/model"])("%s is one model", async (path) => {
  await using server = await testServer();
  const model = { id: "org/model", object: "model", created: expect.any(Number), owned_by: "test" };
  expect(await (await server.fetch(path)).json()).toEqual(model);
  expect(await (await server.fetch("/v1/models")).json()).toEqual({ object: "list", data: [model] });
  expect((await server.fetch("/v1/models/none")).status).toBe(404);
});

test("a stream can be resumed after the last event that the client has", async () => {
  await using server = await testServer({
    follow: async (owner, id, startingAfter, sink) =>
      sink.send("a", JSON.stringify([owner, id, startingAfter])),
  });
  const response = await server.fetch("/v1/responses/resp_9?stream=true&starting_after=41");
  expect(await response.text()).toBe('event: a\ndata: ["local","resp_9",41]\n\ndata: [DONE]\n\n');
});

test("a failure before the first event is an error reply, not a stream", async () => {
  const follow = () => Promise.reject(notFound("There is no such response.", "response_not_found"));
  await using server = await testServer({ follow });
  const response = await server.fetch("/v1/responses/resp_9?stream=true");
  expect(response.status).toBe(404);
  expect(await response.json()).toMatchObject({ error: { code: "response_not_found" } });
});

test("a later failure is an error event, and ends the stream", async () => {
  await using server = await testServer({
    async runStreamed(_prepared, sink) {
      sink.send("a", "1");
      throw new Error("secret of the inside");
    },
  });
  const text = await (await server.post("/v1/responses", { stream: true })).text();
  const [, json = ""] = /^event: error\ndata: (.*)\n\ndata: \[DONE\]$/m.exec(text) ?? [];
  expect(JSON.parse(json)).toMatchObject({
    type: "error",
    code: "internal_error",
    error: { code: "internal_error" },
    sequence_number: 1,
  });
  expect(text).not.toContain("secret of the inside");
});

test.each<[name: string, body: object]>([
  ["runPlain", {}],
  ["runStreamed", { stream: true }],
])("a client that leaves aborts %s", async (name, body) => {
  const started = Promise.withResolvers<void>();
  const aborted = Promise.withResolvers<void>();
  const run = (signal: AbortSignal) =>
    new Promise<never>((_resolve, reject) => {
      started.resolve();
      signal.addEventListener("abort", () => {
        aborted.resolve();
        reject(signal.reason);
      });
    });
  await using server = await testServer({
    runPlain: (_prepared, signal) => run(signal),
    runStreamed: (_prepared, _sink, signal) => run(signal),
  });
  const leave = new AbortController();
  const request = server.post("/v1/responses", body, { signal: leave.signal }).catch(() => {});
  await started.promise;
  leave.abort();
  await aborted.promise;
  await request;
  await server.exchanges.whenIdle();
  expect(server.responses.calls.at(-1)?.name).toBe(name);
  await vi.waitFor(() =>
    expect(server.log()).toEqual([expect.objectContaining({ status: 499, level: "info" })]),
  );
});

test("every reply has a request id: the client's own if it is valid, else a new one", async () => {
  await using server = await testServer();
  const idFor = async (sent: string) =>
    (await server.fetch("/healthz", { headers: { "x-request-id": sent } })).headers.get("x-request-id");
  expect(await idFor("my-id:1")).toBe("my-id:1");
  expect(await idFor("x".repeat(128))).toBe("x".repeat(128));
  expect(await idFor("x".repeat(129))).toMatch(/^req_[0-9a-f]{32}$/);
  expect(await idFor("with space")).toMatch(/^req_/);
  expect((await server.fetch("/nowhere")).headers.get("x-request-id")).toMatch(/^req_/);
});

test("an unknown path is a 404 in the API's shape, with a hint for a forgotten /v1", async () => {
  await using server = await testServer();
  const response = await server.post("/responses", {});
  expect(response.status).toBe(404);
  expect(await response.json()).toEqual({
    error: {
      message: "There is no POST /responses here. Did you mean /v1/responses? The base URL ends with /v1.",
      type: "invalid_request_error",
      param: null,
      code: "unknown_path",
    },
  });
});

test.each([
  ["PUT", "/v1/responses", "POST, GET, HEAD, OPTIONS"],
  ["POST", "/v1/responses/resp_1", "GET, DELETE, HEAD, OPTIONS"],
  ["GET", "/v1/responses/resp_1/cancel", "POST, OPTIONS"],
  ["DELETE", "/healthz", "GET, HEAD, OPTIONS"],
])("%s %s is a 405 that says what is allowed", async (method, path, allow) => {
  await using server = await testServer();
  const response = await server.fetch(path, { method });
  expect(response.status).toBe(405);
  expect(response.headers.get("allow")).toBe(allow);
  expect(await response.json()).toMatchObject({ error: { code: "method_not_allowed" } });
});

test("HEAD replies as GET without a body, also for a stream, and OPTIONS lists the allowed methods", async () => {
  await using server = await testServer();
  for (const path of ["/healthz", "/v1/responses/resp_1?stream=true"]) {
    const head = await server.fetch(path, { method: "HEAD" });
    expect(head.status).toBe(200);
    expect(head.headers.get("content-type")).toBe("application/json");
    expect(await head.text()).toBe("");
  }
  const options = await server.fetch("/v1/responses", { method: "OPTIONS" });
  expect(options.status).toBe(204);
  expect(options.headers.get("allow")).toBe("POST, GET, HEAD, OPTIONS");
});

test("an ApiError becomes the reply as it is, with Retry-After in whole seconds", async () => {
  const busy = new ApiError("Busy.", {
    status: 429,
    type: "rate_limit",
    code: "busy",
    param: "model",
    retryAfterMs: 1200,
  });
  await using server = await testServer({ runPlain: () => Promise.reject(busy) });
  const response = await server.post("/v1/responses", {});
  expect(response.status).toBe(429);
  expect(response.headers.get("retry-after")).toBe("2");
  expect(await response.json()).toEqual({
    error: { message: "Busy.", type: "rate_limit", param: "model", code: "busy" },
  });
});

test("an unavailable store is a 503, and the log has the reason", async () => {
  const broken = new StoreError("unavailable", "disk full at /var/db");
  await using server = await testServer({ prepare: () => Promise.reject(broken) });
  const response = await server.post("/v1/responses", {});
  expect(response.status).toBe(503);
  const text = await response.text();
  expect(JSON.parse(text)).toMatchObject({ error: { code: "store_unavailable", type: "server_error" } });
  expect(text).not.toContain("/var/db");
  expect(server.log()[0]).toMatchObject({ level: "error", error: expect.stringContaining("disk full") });
});

test("an unknown cursor is a 400", async () => {
  const unknown = new StoreError("unknown_cursor", "There is no response resp_0.");
  await using server = await testServer({ list: () => Promise.reject(unknown) });
  expect((await server.fetch("/v1/responses?after=resp_0")).status).toBe(400);
});

test("any other error is a 500 with the request id and without internal details", async () => {
  await using server = await testServer({ get: () => Promise.reject(new TypeError("x is not a function")) });
  const response = await server.fetch("/v1/responses/resp_1", { headers: { "x-request-id": "my-id" } });
  expect(response.status).toBe(500);
  const text = await response.text();
  expect(text).toContain("my-id");
  expect(text).not.toContain("x is not a function");
  expect(server.log()[0]).toMatchObject({ level: "error", requestId: "my-id" });
  expect(server.log()[0]?.["error"]).toMatch(/TypeError: x is not a function\n.*app\.test\.ts/);
});

test("routes need a key, except health, metrics and the OpenAPI document", async () => {
  const authenticate = async () => {
    throw new ApiError("No.", { status: 401, type: "invalid_request_error", code: "invalid_api_key" });
  };
  await using server = await testServer({}, { authenticate, isOpenOnLoopback: false });
  for (const path of ["/healthz", "/readyz", "/metrics", "/openapi.json"])
    expect((await server.fetch(path)).status).toBe(200);
  for (const path of ["/v1/models", "/v1/responses", "/v1/responses/resp_1?stream=true"]) {
    const response = await server.fetch(path);
    expect(response.status).toBe(401);
    expect(response.headers.get("www-authenticate")).toBe("Bearer");
  }
  expect((await server.post("/v1/responses", {})).status).toBe(401);
  expect(server.responses.calls.filter(({ name }) => !["check", "modelServerHealth"].includes(name))).toEqual(
    [],
  );
});

test("readyz and the list of models tell that a model server is down", async () => {
  await using server = await testServer({
    listModels: async () => [
      { id: "a", ownedBy: "test" },
      { id: "b", ownedBy: "test", isUnavailable: true },
    ],
    modelServerHealth: async () => ({ up: 1, down: 1 }),
  });
  const servers = { model_servers: { up: 1, down: 1 } };
  expect(await (await server.fetch("/readyz")).json()).toEqual({ status: "ready", ...servers });
  expect(await (await server.fetch("/v1/models")).json()).toMatchObject({
    data: [{ id: "a" }, { id: "b", available: false }],
    ...servers,
  });
});

test("readyz is 503 while the store is unavailable, says why without details, and recovers by itself", async () => {
  let broken: StoreError | undefined = new StoreError("unavailable", "disk full at /var/db");
  await using server = await testServer({
    check: async () => {
      if (broken) throw broken;
    },
  });
  const asked = async () => {
    const response = await server.fetch("/readyz");
    return { status: response.status, body: await response.json() };
  };
  const unavailable = (reason: string) => ({ status: 503, body: { status: "unavailable", reason } });
  expect(await asked()).toEqual(
    unavailable("The server's store is unavailable: the reason is in the server's log."),
  );
  broken = new StoreError("unavailable", "connect ECONNREFUSED 10.0.0.7", { fault: "unreachable" });
  expect(await asked()).toEqual(
    unavailable("The server's store is unavailable: its database cannot be reached."),
  );
  expect((await server.fetch("/healthz")).status).toBe(200);
  broken = undefined;
  expect(await asked()).toMatchObject({ status: 200, body: { status: "ready" } });
  const lines = server.log().filter(({ message }) => message !== "request");
  expect(lines).toMatchObject([
    { level: "error", message: "The server is not ready.", error: expect.stringContaining("disk full") },
    { level: "warn", message: "The server is ready again." },
  ]);
});

test("readyz is 503 while the store does not answer", async () => {
  const readiness = new Readiness({
    check: () => new Promise(() => {}),
    logger: createLogger({ level: "silent" }),
    limitMs: 1,
  });
  expect(await Promise.all([readiness.notReadyReason(), readiness.notReadyReason()])).toEqual([
    "The server's store is unavailable: its database does not answer in time.",
    "The server's store is unavailable: its database does not answer in time.",
  ]);
});

test("an unavailable store is a 503 that says what is the matter, and when to try again", async () => {
  const away = new StoreError("unavailable", "connect ECONNREFUSED 10.0.0.7", { fault: "unreachable" });
  await using server = await testServer({ get: () => Promise.reject(away) });
  const response = await server.fetch("/v1/responses/resp_1");
  expect(response.status).toBe(503);
  expect(response.headers.get("retry-after")).toBe("5");
  const { error } = (await response.json()) as { error: { message: string; code: string } };
  expect(error.code).toBe("store_unavailable");
  expect(error.message).toContain("its database cannot be reached. What was acknowledged before is safe.");
  expect(error.message).not.toContain("10.0.0.7");
});

test("any bytes as a request get a 4xx or no reply, and the server stays up", async () => {
  await using server = await testServer();
  await fc.assert(
    fc.asyncProperty(fc.oneof(fc.string(), fc.string({ unit: "binary" })), async (path) => {
      const client = await RawClient.connect(server.port);
      client.request("GET", `/v1/${path}`, { connection: "close" });
      client.socket.end();
      await client.closed;
      expect(client.received).toMatch(/^HTTP\/1\.1 4\d\d /);
    }),
    { numRuns: 100 },
  );
  expect((await server.fetch("/healthz")).status).toBe(200);
});

test("bytes that are not HTTP get an error in the API's shape", async () => {
  await using server = await testServer();
  const client = await RawClient.connect(server.port);
  client.socket.write("Hello there\r\n\r\n");
  await client.closed;
  expect(client.received).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/);
  expect(JSON.parse(client.received.split("\r\n\r\n")[1] ?? "")).toMatchObject({
    error: { type: "invalid_request_error" },
  });
});

test("a pipelined request is aborted when its connection closes", async () => {
  const { promise: aborted, resolve } = Promise.withResolvers<void>();
  let running = 0;
  await using server = await testServer({
    runPlain: (_prepared, signal) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener("abort", () => {
          if (--running === 0) resolve();
          reject(signal.reason);
        });
        running++;
      }),
  });
  const client = await RawClient.connect(server.port);
  client.request("POST", "/v1/responses", {}, "{}");
  client.request("POST", "/v1/responses", {}, "{}");
  await vi.waitUntil(() => running === 2);
  client.socket.destroy();
  await aborted;
  await server.exchanges.whenIdle();
  expect(server.exchanges.count).toBe(0);
});
