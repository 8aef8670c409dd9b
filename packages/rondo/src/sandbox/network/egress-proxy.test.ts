import { execFile } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type IncomingMessage, request, type Server } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { promisify } from "node:util";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { EgressProxy, type EgressProxyOptions } from "./egress-proxy.ts";
import { proxyEnvironment, throughForwarder } from "./forwarder.ts";

let upstream: Server;
let port: number;
const seen: IncomingMessage[] = [];
const folder = mkdtempSync(join(tmpdir(), "rondo-egress-"));
let started: EgressProxy | undefined;
let sockets = 0;

beforeAll(async () => {
  upstream = createServer((message, reply) => {
    seen.push(message);
    if (message.url === "/big") reply.end(Buffer.alloc(100_000));
    else if (message.url !== "/never") reply.end(`hello ${message.method} `);
  }).listen(0, "127.0.0.1");
  await once(upstream, "listening");
  ({ port } = upstream.address() as AddressInfo);
});
afterEach(async () => {
  await started?.close();
  upstream.closeAllConnections();
  seen.length = 0;
});
afterAll(() => {
  upstream.close();
  rmSync(folder, { recursive: true });
});

async function startProxy(options: Partial<EgressProxyOptions> = {}): Promise<string> {
  const path = join(folder, `${++sockets}.sock`);
  const allow = [`site.example:${port}`];
  started = new EgressProxy({
    allow,
    allowPrivate: allow,
    resolve: async () => [{ address: "127.0.0.1" }],
    ...options,
  });
  await started.listen(path);
  return path;
}

/** A request through the proxy, as programs send them for http URLs. */
async function get(
  socketPath: string,
  url: string,
  headers = {},
): Promise<{ status: number | undefined; body: string }> {
  const outgoing = request({ socketPath, path: url, headers }).end();
  const [answer] = (await once(outgoing, "response")) as [IncomingMessage];
  return { status: answer.statusCode, body: await text(answer) };
}

/** A tunnel through the proxy, as programs open them for https URLs. */
async function tunnel(
  socketPath: string,
  authority: string,
): Promise<{ status: number | undefined; socket: Socket }> {
  const outgoing = request({ socketPath, method: "CONNECT", path: authority }).end();
  const [answer, socket] = (await once(outgoing, "connect")) as [IncomingMessage, Socket];
  return { status: answer.statusCode, socket };
}

test("forwards http requests to an allowed host, without headers of the proxy", async () => {
  const path = await startProxy();
  const answer = await get(path, `http://site.example:${port}/a?b`, {
    host: "other.example",
    "proxy-authorization": "secret",
    connection: "x-private",
    "x-private": "1",
    "x-kept": "2",
  });
  expect(answer).toEqual({ status: 200, body: "hello GET " });
  expect(seen[0]?.url).toBe("/a?b");
  expect(seen[0]?.headers).toMatchObject({ host: `site.example:${port}`, "x-kept": "2" });
  expect(seen[0]?.headers).not.toHaveProperty("proxy-authorization");
  expect(seen[0]?.headers).not.toHaveProperty("x-private");
});

test("tunnels to an allowed host", async () => {
  const { status, socket } = await tunnel(await startProxy(), `site.example:${port}`);
  expect(status).toBe(200);
  socket.write("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  expect(await text(socket)).toMatch(/^HTTP\/1.1 200 OK[\s\S]*hello GET/);
});

test.each(["other.example:443", "site.example:1", "site.example.evil.test:80", "127.0.0.1:80", "x", ":80"])(
  "refuses a tunnel to %s",
  async (authority) => {
    const { status } = await tunnel(await startProxy(), authority);
    expect([400, 403]).toContain(status);
  },
);

test.each([
  "http://other.example/",
  "https://site.example/",
  "/",
  "ftp://site.example/",
  "http://u:p@site.example/",
])("refuses a request for %s", async (url) => {
  const { status } = await get(await startProxy(), url);
  expect([400, 403]).toContain(status);
  expect(seen).toEqual([]);
});

test.each([[["127.0.0.1"]], [["8.8.8.8", "169.254.169.254"]], [["::ffff:127.0.0.1"]]])(
  "refuses an allowed name that stands for %j",
  async (addresses) => {
    const path = await startProxy({
      allowPrivate: [],
      resolve: async () => addresses.map((address) => ({ address })),
    });
    expect((await tunnel(path, `site.example:${port}`)).status).toBe(403);
    expect((await get(path, `http://site.example:${port}/`)).status).toBe(403);
    expect(seen).toEqual([]);
  },
);

test("refuses an allowed address that is private, in any notation", async () => {
  const path = await startProxy({ allow: ["*", `*:${port}`], allowPrivate: [] });
  for (const host of ["127.0.0.1", "0x7f.1", "2130706433", "[::1]", "[::ffff:7f00:1]", "localhost"])
    expect((await tunnel(path, `${host}:${port}`)).status).toBe(403);
});

test("connects to the address that it checked, whatever the name stands for later", async () => {
  const answers = ["127.0.0.1", "203.0.113.1"];
  const path = await startProxy({ resolve: async () => [{ address: answers.shift() ?? "" }] });
  expect((await get(path, `http://site.example:${port}/`)).status).toBe(200);
  expect(answers).toHaveLength(1);
});

test("ends connections beyond the limit of bytes, and opens no others", async () => {
  const path = await startProxy({ limits: { bytes: 50_000 } });
  await expect(get(path, `http://site.example:${port}/big`)).rejects.toThrow(/aborted|hang up/);
  expect((await get(path, `http://site.example:${port}/`)).status).toBe(429);
});

test("refuses connections beyond the limit at the same time", async () => {
  const path = await startProxy({ limits: { connections: 1 } });
  const first = await tunnel(path, `site.example:${port}`);
  expect((await tunnel(path, `site.example:${port}`)).status).toBe(429);
  first.socket.destroy();
});

test("ends a connection that carries nothing, or lasts too long", async () => {
  for (const limits of [{ idleMs: 50 }, { timeoutMs: 50 }]) {
    const path = await startProxy({ limits });
    const { socket } = await tunnel(path, `site.example:${port}`);
    await once(socket.resume(), "close");
    expect(socket.bytesRead).toBeLessThan(200);
    await started?.close();
  }
});

test("answers 502 for a host without an address or a server", async () => {
  const path = await startProxy({ resolve: () => Promise.reject(new Error("ENOTFOUND")) });
  expect((await tunnel(path, `site.example:${port}`)).status).toBe(502);
});

test("survives bytes that are not HTTP, and closes with requests under way", async () => {
  const path = await startProxy();
  const noise = connect(path);
  noise.on("error", () => undefined).end(Buffer.from([0, 255, 10, 13, 10]));
  await once(noise.resume(), "close");
  const waiting = get(path, `http://site.example:${port}/never`);
  await once(upstream, "request");
  await Promise.all([expect(waiting).rejects.toThrow(/hang up|ECONNRESET/), started?.close()]);
});

test("a forwarder lets programs on the loopback use the proxy, and passes on their exit code", async () => {
  const socketPath = await startProxy();
  const program = `fetch("http://site.example:${port}/").then((it) => it.text()).then(console.log).then(() => process.exit(7));`;
  const [node, ...args] = throughForwarder([process.execPath, "--eval", program], {
    node: process.execPath,
    socketPath,
  });
  await expect(promisify(execFile)(node, args, { env: { ...proxyEnvironment } })).rejects.toMatchObject({
    code: 7,
    stdout: "hello GET \n",
  });
});
