import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startModelServer } from "rondo/testing";
import { expect, onTestFinished, test, vi } from "vitest";
import { freePort } from "../../../../test/support/free-port.ts";
import { resolveConfig } from "../config/check-config.ts";
import { ConfigError } from "../config/config-error.ts";
import type { ConfigInput } from "../config/schema.ts";
import type { ToolExecutor } from "../executor/executor.ts";
import type { ResponseObject } from "../protocol/response.ts";
import { openStore } from "../store/open-store.ts";
import { hashKey, newKey } from "./auth-keys.ts";
import { createLogger } from "./log.ts";
import { type RunningServer, startServer } from "./server.ts";

async function start(config: ConfigInput) {
  let log = "";
  const logger = createLogger({ write: (lines) => (log += lines) });
  const server = await startServer(resolveConfig({ store: "memory", port: 0, shutdownMs: 5000, ...config }), {
    logger,
  });
  return { ...server, log: () => log };
}

async function post(server: RunningServer, body: object, headers: Record<string, string> = {}) {
  return fetch(`${server.url}/v1/responses`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify({ model: "test-model", ...body }),
  });
}

async function get(server: RunningServer, path: string): Promise<ResponseObject> {
  return (await (await fetch(server.url + path)).json()) as ResponseObject;
}

async function temporaryStore(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "rondo-http-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return `sqlite:${join(folder, "test.db")}`;
}

test("a server runs plain, streamed and background requests, and counts them", async () => {
  await using model = await startModelServer(["One.", "Two.", "Three."]);
  await using server = await start({ endpoints: [{ url: model.url }] });
  const plain = (await (await post(server, { input: "1" })).json()) as ResponseObject;
  expect(plain).toMatchObject({ status: "completed", output: [{ content: [{ text: "One." }] }] });
  const streamed = await (await post(server, { input: "2", stream: true })).text();
  expect(streamed).toMatch(
    /^event: response\.created\n[\s\S]*event: response\.completed\n.*\n\ndata: \[DONE\]\n\n$/,
  );
  const followed = await (await post(server, { input: "3", background: true, stream: true })).text();
  expect(followed).toMatch(/"delta":"Three\."[\s\S]*event: response\.completed\n.*\n\ndata: \[DONE\]\n\n$/);
  expect(await get(server, `/v1/responses/${plain.id}`)).toEqual(plain);
  expect((await get(server, "/v1/responses")) as unknown).toMatchObject({
    data: { length: 3 },
    has_more: false,
  });
  const numbers = await (await fetch(`${server.url}/metrics`)).text();
  expect(numbers).toContain('rondo_runs_total{status="completed"} 3');
  expect(numbers).toContain("rondo_open_streams 0");
});

test("stored responses are there after a restart", async () => {
  const store = await temporaryStore();
  await using model = await startModelServer(["Kept."]);
  const first = await start({ endpoints: [{ url: model.url }], store });
  const response = (await (await post(first, { input: "hi" })).json()) as ResponseObject;
  await first.close();
  await using second = await start({ endpoints: [{ url: model.url }], store });
  expect(await get(second, `/v1/responses/${response.id}`)).toEqual(response);
});

test("a failing model is an error reply, a log line and a metric, without the key", async () => {
  await using model = await startModelServer([{ status: 401, body: "bad key sk-very-secret-key-1" }]);
  await using server = await start({ endpoints: [{ url: model.url, apiKey: "sk-very-secret-key-1" }] });
  const response = await post(server, { input: "hi" });
  expect(response.status).toBe(502);
  expect(await response.text()).not.toContain("sk-very-secret");
  await vi.waitFor(() => expect(server.log()).toContain("A model failed."));
  expect(server.log()).not.toContain("sk-very-secret");
  expect(await (await fetch(`${server.url}/metrics`)).text()).toMatch(
    /rondo_model_errors_total\{code="\w+"\} 1/,
  );
});

test("with keys, each key sees only its own responses", async () => {
  const [ann, ben] = [newKey(), newKey()];
  const keys = [
    { owner: "ann", hash: hashKey(ann) },
    { owner: "ben", hash: hashKey(ben) },
  ];
  await using model = await startModelServer(["Hi."]);
  await using server = await start({ endpoints: [{ url: model.url }], auth: { keys } });
  expect((await post(server, { input: "hi" })).status).toBe(401);
  const made = await post(server, { input: "hi" }, { authorization: `Bearer ${ann}` });
  const { id } = (await made.json()) as ResponseObject;
  const statusFor = async (key: string) =>
    (await fetch(`${server.url}/v1/responses/${id}`, { headers: { authorization: `Bearer ${key}` } })).status;
  expect([await statusFor(ann), await statusFor(ben)]).toEqual([200, 404]);
  await vi.waitFor(() => expect(server.log()).toContain('"owner":"key:ann"'));
  expect(server.log()).not.toContain(ann);
});

test("without keys, it does not start on an address that other machines can reach", async () => {
  const config = resolveConfig({ host: "0.0.0.0", port: 0, store: "memory" });
  await expect(startServer(config)).rejects.toBeInstanceOf(ConfigError);
});

test("a failed start releases the store", async () => {
  const other = createServer().listen(0, "127.0.0.1");
  await once(other, "listening");
  const store = await temporaryStore();
  const { port } = other.address() as AddressInfo;
  await expect(start({ port, store, endpoints: [{ url: "http://127.0.0.1:1/v1" }] })).rejects.toThrow(
    "--port",
  );
  await (await openStore(store)).close();
  other.close();
});

const idleExecutor: ToolExecutor = {
  kind: "acme",
  canExecute: () => false,
  execute: async ({ id }) => ({ callId: id, output: "" }),
};

test("an executor that fails to start leaves neither the port nor the store in use", async () => {
  const port = await freePort();
  const store = await temporaryStore();
  const fail = () => {
    throw new Error("no disk");
  };
  const broken = { ...idleExecutor, start: fail, close: async () => fail() };
  await expect(start({ port, store, executors: [broken] })).rejects.toThrow("no disk");
  await using server = await start({ port, store });
  expect(server.port).toBe(port);
});

test("an executor that fails to close does not keep the store and other executors open", async () => {
  const store = await temporaryStore();
  let isClosed = false;
  const broken = { ...idleExecutor, close: () => Promise.reject(new Error("no disk")) };
  const slow = {
    ...idleExecutor,
    close: async () => {
      await new Promise((resolve) => setImmediate(resolve));
      isClosed = true;
    },
  };
  const server = await start({ store, executors: [broken, slow] });
  await server.close();
  expect(isClosed).toBe(true);
  expect(server.log()).toContain("An executor could not be closed.");
  await (await openStore(store)).close();
});

test("closing waits for a stream in flight, and a second close is the same", async () => {
  const { promise: held, resolve: release } = Promise.withResolvers<void>();
  await using model = await startModelServer([{ text: "Slowly.", waitFor: held }]);
  const server = await start({ endpoints: [{ url: model.url }] });
  const response = await post(server, { input: "hi", stream: true });
  const closing = server.close();
  expect(server.close()).toBe(closing);
  release();
  expect(await response.text()).toMatch(/event: response\.completed\n.*\n\ndata: \[DONE\]\n\n$/);
  await closing;
  await expect(fetch(server.url)).rejects.toThrow("fetch failed");
});

test("the OpenAPI document has the version of the package", async () => {
  await using server = await start({ endpoints: [{ url: "http://127.0.0.1:1/v1" }] });
  const document = (await (await fetch(`${server.url}/openapi.json`)).json()) as {
    info: unknown;
    paths: object;
  };
  expect(document.info).toMatchObject({ version: expect.stringMatching(/^\d+\.\d+\.\d+/) });
  expect(Object.keys(document.paths)).toContain("/v1/responses");
});
