// The audit log of a real server: who did what, in which order, for several owners.

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { tool } from "rondo";
import { scriptedModel } from "rondo/testing";
import { expect, onTestFinished, test, vi } from "vitest";
import { type AuditLine, LogReader } from "../audit/read-log.ts";
import type { ConfigInput } from "../config/schema.ts";
import { SocketClient } from "../conformance/testkit/socket-client.ts";
import type { ResponseObject } from "../protocol/response.ts";
import { tempFolder } from "../store/testkit/temp-folder.ts";
import { hashKey, newKey } from "./auth-keys.ts";
import { createLogger } from "./log.ts";
import { startServer } from "./server.ts";

const ada = newKey();
const second = newKey();
const bob = newKey();
const auth = {
  keys: [
    { owner: "ada", hash: hashKey(ada) },
    { owner: "ada", hash: hashKey(second) },
    { owner: "bob", hash: hashKey(bob) },
  ],
};
const idOf = (key: string) => hashKey(key).slice(0, "sha256:".length + 12);

function read(path: string): AuditLine[] {
  const reader = new LogReader();
  const lines = [...reader.read(readFileSync(path)), ...reader.end()];
  expect(reader).toMatchObject({ broken: 0, missing: 0 });
  return lines;
}

async function start(config: ConfigInput) {
  const folder = tempFolder();
  onTestFinished(() => folder[Symbol.dispose]());
  const path = join(folder.path, "audit.jsonl");
  let log = "";
  const logger = createLogger({ write: (lines) => (log += lines) });
  const server = await startServer(
    { store: "memory", port: 0, sandbox: { kind: "none" }, auth, audit: path, ...config },
    { logger },
  );
  onTestFinished(() => server.close());
  const send = async (method: string, path: string, key: string, body?: object, headers: object = {}) => {
    const response = await fetch(`${server.url}/v1${path}`, {
      method,
      headers: {
        ...(key !== "" && { authorization: `Bearer ${key}` }),
        ...(body && { "content-type": "application/json" }),
        ...headers,
      },
      ...(body && { body: JSON.stringify(body) }),
    });
    return { status: response.status, body: (await response.json()) as ResponseObject };
  };
  /** The log when it has this many lines of an action. */
  const lines = (action: string, count = 1) =>
    vi.waitFor(() => {
      const all = read(path);
      expect(all.filter((line) => line.action === action)).toHaveLength(count);
      return all;
    });
  return { server, path, send, lines, log: () => log };
}

const told = (lines: readonly AuditLine[]) => lines.map(({ action }) => action);

test("a request, its response and its calls are there in their order, with the owner, the key and the tool", async () => {
  let path = "";
  const seen: string[][] = [];
  const add = tool("add", "Adds.", { a: Number, b: Number }, ({ a, b }) => {
    seen.push(told(read(path)));
    return a + b;
  });
  const forged = '\n{"v":1,"action":"deletion.ended"}\n\u2028\u001b[2J';
  const model = scriptedModel([
    {
      calls: [
        { id: "c1", name: "add", input: { a: 25, b: 17 } },
        { id: "c2", name: forged, input: {} },
      ],
    },
    "42",
  ]);
  const { send, lines, ...rest } = await start({ models: { test: model }, tools: [add] });
  path = rest.path;
  const { body } = await send("POST", "/responses", second, { input: "Secret?" }, { "x-request-id": "mine" });
  const all = await lines("request.ended");
  const own = all.filter(({ owner }) => owner !== undefined);
  expect(told(own)).toEqual([
    "request.started",
    "response.created",
    "call.refused",
    "call.started",
    "call.ended",
    "run.ended",
    "request.ended",
  ]);
  // The call was on the disk before the tool ran.
  expect(seen[0]?.at(-1)).toBe("call.started");
  const who = { owner: "key:ada", key: idOf(second), address: "127.0.0.1", request_id: "mine" };
  const [started, created, refused, begun, ended, runEnded, requestEnded] = own;
  expect(started).toMatchObject({ ...who, method: "POST", route: "/v1/responses" });
  expect(created).toMatchObject({ ...who, response_id: body.id, background: false });
  expect(refused).toMatchObject({
    response_id: body.id,
    call_id: "c2",
    reason: "unknown",
    tool: { name: forged },
  });
  const identity = { host: "local", label: "local", name: "add" };
  expect(begun).toMatchObject({ owner: "key:ada", response_id: body.id, call_id: "c1", tool: identity });
  expect(begun).toMatchObject({
    arguments_bytes: 15,
    arguments_sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
  });
  expect(ended).toMatchObject({
    started: begun?.n,
    call_id: "c1",
    tool: identity,
    outcome: "ok",
    result_bytes: 2,
  });
  expect(runEnded).toMatchObject({ response_id: body.id, outcome: "completed" });
  expect(requestEnded).toMatchObject({ ...who, started: started?.n, response_id: body.id, status: 200 });
  const text = readFileSync(path, "utf8");
  for (const secret of ["Secret?", second, hashKey(second), '"a":25']) expect(text).not.toContain(secret);
});

test("owners are told apart: reads, denied keys, deletions and cancels, each before it happens", async () => {
  const model = scriptedModel(["Hi.", { text: ["Wait", new Promise<never>(() => {})] }]);
  const { send, lines } = await start({ models: { test: model } });
  const { body } = await send("POST", "/responses", ada, { input: "Hello." });
  expect((await send("GET", `/responses/${body.id}`, bob)).status).toBe(404);
  expect((await send("DELETE", `/responses/${body.id}`, bob)).status).toBe(404);
  expect((await send("DELETE", `/responses/${body.id}`, ada)).status).toBe(200);
  const queued = await send("POST", "/responses", bob, { input: "Long.", background: true });
  await vi.waitFor(() => expect(model.requests).toHaveLength(2));
  expect((await send("POST", `/responses/${queued.body.id}/cancel`, bob)).status).toBe(200);
  expect((await send("GET", "/responses", "")).status).toBe(401);
  expect((await send("GET", "/system", newKey(), undefined, { "x-forwarded-for": "6.6.6.6" })).status).toBe(
    401,
  );
  const all = await lines("request.denied", 2);
  const of = (action: string) => all.filter((line) => line.action === action);
  expect(of("deletion.started")).toMatchObject([
    { owner: "key:bob", target: body.id, route: "/v1/responses/:id" },
    { owner: "key:ada", target: body.id, key: idOf(ada) },
  ]);
  expect(of("deletion.ended")).toMatchObject([{ status: 404, error: "response_not_found" }, { status: 200 }]);
  expect(of("cancellation.ended")).toMatchObject([{ owner: "key:bob", response_id: queued.body.id }]);
  expect(of("run.started")).toMatchObject([
    { owner: "key:bob", response_id: queued.body.id, resumed: false },
  ]);
  expect(of("run.ended").map(({ outcome }) => outcome)).toEqual(["completed", "cancelled"]);
  expect(of("request.denied")).toMatchObject([
    { status: 401, error: "invalid_api_key", route: "/v1/responses", address: "127.0.0.1" },
    { status: 401, forwarded_for: "6.6.6.6" },
  ]);
  expect(of("request.denied").some(({ owner, key }) => owner !== undefined || key !== undefined)).toBe(false);
  const orders = all.flatMap(({ started, n }) => (started === undefined ? [] : [n - started]));
  expect(Math.min(...orders)).toBeGreaterThan(0);
});

test("denied requests beyond 50 a second are counted, not listed", async () => {
  const { server, send, lines } = await start({ models: { test: scriptedModel([]) } });
  await Promise.all(Array.from({ length: 60 }, () => fetch(`${server.url}/v1/models`)));
  expect((await send("GET", "/models", bob)).status).toBe(200);
  const all = await vi.waitFor(() => lines("request.denied", 51), { timeout: 5000 });
  expect(all.findLast(({ action }) => action === "request.denied")).toMatchObject({ count: 10 });
});

test("a WebSocket connection and each of its messages are there", async () => {
  const { server, lines } = await start({ models: { test: scriptedModel(["Hi."]) } });
  const authorization = `Bearer ${bob}`;
  const client = await SocketClient.open(`${server.url}/v1`, { headers: { authorization } });
  const { response } = await client.ask({ input: "Hello.", model: "test" });
  await lines("message.ended");
  client.socket.close();
  const all = (await lines("request.ended")).filter(({ owner }) => owner === "key:bob");
  expect(told(all)).toEqual([
    "request.started",
    "message.started",
    "response.created",
    "run.ended",
    "message.ended",
    "request.ended",
  ]);
  expect(all[4]).toMatchObject({
    started: all[1]?.n,
    outcome: "ok",
    response_id: response.id,
    key: idOf(bob),
  });
  expect(all[5]).toMatchObject({ started: all[0]?.n, status: 101 });
});

test("the start, the end and what expires are there, for nobody; without a setting there is no log", async () => {
  const { server, path, lines } = await start({ models: { test: scriptedModel([]) }, keepDays: 1 });
  await lines("expiry.ended");
  await server.close();
  const all = read(path);
  expect(told(all)).toEqual(["server.started", "expiry.started", "expiry.ended", "server.stopped"]);
  expect(all[2]).toMatchObject({ started: all[1]?.n, outcome: "ok", count: 0 });
  expect(all.every(({ owner }) => owner === undefined)).toBe(true);
  const without = await start({ models: { test: scriptedModel([]) }, audit: undefined });
  expect((await without.send("GET", "/models", ada)).status).toBe(200);
  expect(existsSync(without.path)).toBe(false);
});
