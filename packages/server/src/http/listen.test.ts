import { once } from "node:events";
import type { RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { createServer } from "node:net";
import { expect, test, vi } from "vitest";
import { Exchanges } from "./exchange.ts";
import { listen } from "./listen.ts";
import { ListenError } from "./listen-error.ts";
import { createLogger } from "./log.ts";
import { fakeResponse } from "./testkit/fake-responses.ts";
import { RawClient } from "./testkit/raw-http.ts";
import { testServer } from "./testkit/test-server.ts";

const forever = 2 ** 30;

/** A run that ends when the test says so, or when it is aborted. */
function heldRun() {
  const started = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  const wait = async (signal: AbortSignal) => {
    started.resolve();
    await Promise.race([released.promise, once(signal, "abort").then(() => Promise.reject(signal.reason))]);
  };
  return { started: started.promise, release: released.resolve, wait };
}

test("closing lets a request in flight finish, accepts no new connection, and closes idle ones", async () => {
  const held = heldRun();
  const server = await testServer({
    async runPlain({ id }, signal) {
      await held.wait(signal);
      return fakeResponse(id);
    },
  });
  const idle = await RawClient.connect(server.port);
  idle.request("GET", "/healthz");
  await idle.until(/"ok"/);
  const silent = await RawClient.connect(server.port);
  const running = await RawClient.connect(server.port);
  running.request("POST", "/v1/responses", {}, "{}");
  await held.started;
  const closed = server.close({ graceMs: forever });
  await idle.closed;
  await expect(server.fetch("/healthz")).rejects.toThrow("fetch failed");
  held.release();
  await closed;
  await running.closed;
  await silent.closed;
  expect(running.received).toMatch(/^HTTP\/1\.1 200 /);
  expect(running.received.toLowerCase()).toContain("connection: close");
  expect(running.received).toContain('"completed"');
});

test("closing lets a stream finish with all its events", async () => {
  const held = heldRun();
  const server = await testServer({
    async runStreamed(_prepared, sink, signal) {
      sink.send("first", "1");
      await held.wait(signal);
      sink.send("last", "2");
    },
  });
  const response = await server.post("/v1/responses", { stream: true });
  await held.started;
  const closed = server.close({ graceMs: forever });
  held.release();
  expect(await response.text()).toBe("event: first\ndata: 1\n\nevent: last\ndata: 2\n\ndata: [DONE]\n\n");
  await closed;
});

test("after the grace period, requests in flight are aborted with an error", async () => {
  const held = heldRun();
  const server = await testServer({
    async runPlain({ id }, signal) {
      await held.wait(signal);
      return fakeResponse(id);
    },
  });
  const response = server.post("/v1/responses", {});
  await held.started;
  await server.close({ graceMs: 10 });
  const answer = await response;
  expect(answer.status).toBe(503);
  expect(answer.headers.get("retry-after")).toBe("1");
  expect(await answer.json()).toMatchObject({ error: { code: "server_stopping" } });
});

test("a request that ignores its signal is cut off", async () => {
  const started = Promise.withResolvers<void>();
  const server = await testServer({
    runPlain: () => {
      started.resolve();
      return new Promise(() => {});
    },
  });
  const client = await RawClient.connect(server.port);
  client.request("POST", "/v1/responses", {}, "{}");
  await started.promise;
  await server.close({ graceMs: 0 });
  await client.closed;
  expect(client.received).toBe("");
});

test("followers of a background run are released with it, without [DONE], so that they reconnect", async () => {
  const server = await testServer({
    async follow(_owner, _id, _startingAfter, sink, signal) {
      sink.send("first", "1");
      await once(signal, "abort");
    },
  });
  const response = await server.fetch("/v1/responses/resp_1?stream=true");
  const { promise: released, resolve } = Promise.withResolvers<void>();
  const closed = server.close({ graceMs: forever, released });
  resolve();
  expect(await response.text()).toBe("event: first\ndata: 1\n\n");
  await closed;
});

test("while the server stops, open connections accept no new requests", async () => {
  const held = heldRun();
  const server = await testServer({
    async runStreamed(_prepared, sink, signal) {
      sink.send("first", "1");
      await held.wait(signal);
    },
  });
  // Both requests are on one connection: the second is read when the server is already stopping.
  const client = await RawClient.connect(server.port);
  client.request("POST", "/v1/responses", {}, '{"stream":true}');
  await client.until(/event: first/);
  const closed = server.close({ graceMs: forever });
  client.request("GET", "/v1/models");
  client.request("GET", "/readyz");
  await vi.waitUntil(() => server.exchanges.count > 1);
  held.release();
  await client.until(/"server_stopping"/);
  await closed;
  expect(server.responses.calls.map(({ name }) => name)).not.toContain("listModels");
});

test("readyz is 503 while the server stops", async () => {
  await using server = await testServer();
  server.exchanges.drain();
  const response = await server.fetch("/readyz");
  expect(response.status).toBe(503);
  expect(await response.json()).toEqual({ status: "stopping", reason: "The server is stopping." });
  expect((await server.fetch("/healthz")).status).toBe(200);
});

test("closing twice is the same as closing once", async () => {
  const server = await testServer();
  const closing = server.close({ graceMs: 0 });
  expect(server.close({ graceMs: 0 })).toBe(closing);
  await closing;
  await expect(server.close({ graceMs: 0 })).resolves.toBeUndefined();
});

test("a body that nobody reads and that does not end closes its connection, after the reply", async () => {
  await using server = await testServer();
  const client = await RawClient.connect(server.port);
  const head = "POST /nowhere HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 1000000\r\n\r\n";
  client.socket.write(`${head}the beginning`);
  await client.closed;
  expect(client.received).toMatch(/^HTTP\/1\.1 404 .*unknown_path/s);
});

test("a body that nobody reads but that ends leaves its connection open", async () => {
  await using server = await testServer();
  const client = await RawClient.connect(server.port);
  client.request("POST", "/nowhere", {}, "x".repeat(1_000_000));
  await client.until(/unknown_path/);
  client.request("GET", "/healthz");
  await client.until(/"ok"/);
  expect(client.received.match(/HTTP\/1\.1 \d+/g)).toEqual(["HTTP/1.1 404", "HTTP/1.1 200"]);
});

test("a request with a whole URL, as proxies send it, is answered by its path", async () => {
  await using server = await testServer();
  const client = await RawClient.connect(server.port);
  client.request("GET", "http://127.0.0.1/healthz?x=1");
  await client.until(/"ok"/);
  client.request("PUT", "HTTP://127.0.0.1?x=1");
  await client.until(/PUT \/ here|\/ does not take PUT/);
  expect(client.received).toMatch(/^HTTP\/1\.1 200 .*HTTP\/1\.1 40[45] /s);
});

test("a port in use is explained", async () => {
  const other = createServer().listen(0, "127.0.0.1");
  await once(other, "listening");
  const { port } = other.address() as AddressInfo;
  const error = await start("127.0.0.1", port).catch((caught: unknown) => caught);
  expect(error).toBeInstanceOf(ListenError);
  expect(error).toMatchObject({
    code: "EADDRINUSE",
    message: expect.stringMatching(new RegExp(`Another program already listens on port ${port} .*--port`)),
  });
  other.close();
});

test("an address of another machine is explained", async () => {
  await expect(start("192.0.2.1", 0)).rejects.toThrow(/does not have the address 192\.0\.2\.1.*127\.0\.0\.1/);
});

test.each([
  ["EACCES", /may not listen on port 80.*above 1023/],
  ["ENOTFOUND", /host name x cannot be found/],
  ["EWEIRD", /Cannot listen on port 80 of x: strange/],
])("%s is told in words", (code, message) => {
  const cause = Object.assign(new Error("strange"), { code });
  expect(new ListenError(cause, "x", 80)).toMatchObject({
    code,
    message: expect.stringMatching(message),
    cause,
  });
});

test.each([
  ["127.0.0.1", /^http:\/\/127\.0\.0\.1:\d+$/],
  ["localhost", /^http:\/\/localhost:\d+$/],
  ["0.0.0.0", /^http:\/\/localhost:\d+$/],
])("on %s the address is one that can be opened", async (host, url) => {
  const listening = await start(host, 0);
  expect(listening.url).toMatch(url);
  expect((await fetch(listening.url)).status).toBe(404);
  await listening.close({ graceMs: 0 });
});

function start(host: string, port: number) {
  const logger = createLogger({ level: "silent" });
  const app: RequestListener = (_incoming, outgoing) => void outgoing.writeHead(404).end();
  return listen({ app, exchanges: new Exchanges(), logger, host, port });
}
