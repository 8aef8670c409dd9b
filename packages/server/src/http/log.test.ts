import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { expect, test, vi } from "vitest";
import { ApiError } from "../protocol/api-error.ts";
import { newKey } from "./auth-keys.ts";
import { createLogger, type LogOptions, redact } from "./log.ts";
import { testServer } from "./testkit/test-server.ts";

const now = () => new Date("2026-01-02T03:04:05.678Z");

function recorder(options: LogOptions = {}) {
  const writes: string[] = [];
  return { writes, logger: createLogger({ now, ...options, write: (lines) => writes.push(lines) }) };
}

test("a line of JSON has the time, the level, the message and the fields", () => {
  const { writes, logger } = recorder();
  logger.warn("Careful.", { model: "m", count: 2, nothing: undefined });
  expect(writes).toEqual([
    '{"time":"2026-01-02T03:04:05.678Z","level":"warn","message":"Careful.","model":"m","count":2}\n',
  ]);
});

test("a line of text is readable, and stays one line", () => {
  const { writes, logger } = recorder({ format: "text" });
  logger.warn("Two\nlines.", { path: "/v1/responses", model: 'a "b"\n', none: undefined });
  expect(writes).toEqual([
    '2026-01-02T03:04:05.678Z warn  Two lines. path=/v1/responses model="a \\"b\\"\\n"\n',
  ]);
});

test("an error is logged with its stack and its causes", () => {
  for (const format of ["json", "text"] as const) {
    const { writes, logger } = recorder({ format });
    logger.error("Broken.", {}, new Error("outer", { cause: new TypeError("inner") }));
    expect(writes[0]).toMatch(/Error: outer.*log\.test\.ts/s);
    expect(writes[0]).toMatch(/Caused by: TypeError: inner/);
  }
});

test("lines below the level are left out", () => {
  const { writes, logger } = recorder({ level: "error" });
  logger.debug("1");
  logger.info("2");
  logger.warn("3");
  logger.error("4");
  expect(writes).toHaveLength(1);
  const silent = recorder({ level: "silent" });
  silent.logger.error("5");
  expect(silent.writes).toEqual([]);
});

test("lines are batched, and an error is written at once", async () => {
  const { writes, logger } = recorder();
  logger.info("1");
  logger.info("2");
  expect(writes).toEqual([]);
  await vi.waitUntil(() => writes.length > 0);
  expect(writes[0]?.split("\n")).toHaveLength(3);
  logger.info("3");
  logger.error("4");
  expect(writes[1]).toMatch(/"3".*\n.*"4"/);
});

test("batched lines are written before the process exits", async () => {
  const program = `
    import { createLogger } from ${JSON.stringify(import.meta.resolve("./log.ts"))};
    createLogger().info("The last words.");
    process.exit(3);`;
  const child = spawn(process.execPath, ["--input-type=module", "--eval", program], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  const [written, [code]] = await Promise.all([text(child.stderr), once(child, "exit")]);
  expect(written).toContain("The last words.");
  expect(code).toBe(3);
});

test.each([
  ["Authorization: Bearer abcdef.123456", "Authorization: Bearer [redacted]"],
  ['{"authorization":"Bearer abcdef123456"}', '{"authorization":"Bearer [redacted]"}'],
  [String.raw`{\"api_key\":\"abcdef\"}`, String.raw`{\"api_key\":\"[redacted]\"}`],
  ["GET https://user:pass@host/v1", "GET https://[redacted]@host/v1"],
  ["https://host/v1?api_key=abcdef&x=1", "https://host/v1?api_key=[redacted]&x=1"],
  ["the key sk-proj-abcdefghijkl is wrong", "the key [redacted] is wrong"],
  [`the key ${newKey()} is wrong`, "the key [redacted] is wrong"],
  ["jwt eyJhbGciOi.eyJzdWIi.c2ln", "jwt [redacted]"],
  ["password = hunter22", "password = [redacted]"],
])("%s becomes %s", (text, redacted) => {
  expect(redact(text)).toBe(redacted);
});

test.each([
  "request /v1/responses/resp_0123456789abcdef0123456789abcdef 200",
  '{"input_tokens":12345,"output_tokens":678}',
  "Another program already listens on port 4500 of 127.0.0.1.",
  "sqlite:./rondo_of_the_third_floor.db is used by another process",
])("%s stays as it is", (text) => {
  expect(redact(text)).toBe(text);
});

test("a request is one line, without headers, query or body", async () => {
  await using server = await testServer({}, { authenticate: async () => ({ owner: "key:ann" }) });
  const response = await server.post(
    "/v1/responses?hidden=in-the-query",
    { model: "m", input: "hidden-in-the-body" },
    {
      headers: { authorization: "Bearer hidden-key", "x-hidden": "hidden-header", "x-request-id": "r1" },
    },
  );
  await response.text();
  await server.exchanges.whenIdle();
  await vi.waitFor(() => expect(server.log()).toHaveLength(1));
  const [line] = server.log();
  expect(line).toEqual({
    time: expect.any(String),
    level: "info",
    message: "request",
    method: "POST",
    path: "/v1/responses",
    status: 200,
    ms: expect.any(Number),
    requestId: "r1",
    owner: "key:ann",
    responseId: "resp_1",
    model: "m",
  });
  expect(JSON.stringify(line)).not.toContain("hidden");
});

test("a key in an error's text is not logged, however the request fails", async () => {
  const key = "sk-live-0123456789abcdef";
  await using server = await testServer({
    prepare: () => Promise.reject(new Error(`the model server has refused Bearer ${key}`)),
    get: () =>
      Promise.reject(
        new Error("outer", { cause: new Error(`{"headers":{"authorization":"Bearer ${key}"}}`) }),
      ),
    cancel: () =>
      Promise.reject(new ApiError("no", { status: 502, type: "server_error", cause: new Error(key) })),
  });
  const headers = { authorization: `Bearer ${key}` };
  await (await server.post("/v1/responses", { input: key }, { headers })).text();
  await (await server.fetch(`/v1/responses/r?api_key=${key}`, { headers })).text();
  await (await server.fetch("/v1/responses/r/cancel", { method: "POST", headers })).text();
  await server.exchanges.whenIdle();
  await vi.waitFor(() => expect(server.log().filter(({ message }) => message === "request")).toHaveLength(3));
  expect(server.log().filter(({ level }) => level === "error")).toHaveLength(2);
  expect(JSON.stringify(server.log())).not.toContain(key);
});

test("health checks are logged only at the level debug", async () => {
  await using server = await testServer({}, { level: "info" });
  for (const path of ["/healthz", "/readyz", "/metrics", "/v1/models"])
    await (await server.fetch(path)).text();
  await server.exchanges.whenIdle();
  await vi.waitFor(() => expect(server.log().map(({ path }) => path)).toEqual(["/v1/models"]));
});
