import { once } from "node:events";
import { connect } from "node:net";
import { SignJWT } from "jose";
import { tool } from "rondo";
import { describe, expect, onTestFinished, test } from "vitest";
import type { ConfigInput } from "../config/schema.ts";
import { hashKey } from "../http/auth-keys.ts";
import { RawClient } from "../http/testkit/raw-http.ts";
import { SocketClient } from "./testkit/socket-client.ts";
import { start, type TestServer } from "./testkit/start.ts";

const ask = { model: "test", input: "Hi" };

async function open(server: TestServer, key?: string): Promise<SocketClient> {
  const headers = key === undefined ? {} : { authorization: `Bearer ${key}` };
  const client = await SocketClient.open(server.baseURL, { headers });
  onTestFinished(() => client.socket.terminate());
  return client;
}

describe("a client that sends too many", () => {
  const few: ConfigInput = { webSocket: { pingsPerMinute: 20, messagesPerMinute: 20 } };

  test.each([
    ["pings", (client: SocketClient) => client.socket.ping("x".repeat(125)), "pingsPerMinute"],
    ["pongs", (client: SocketClient) => client.socket.pong(), "pingsPerMinute"],
    ["messages", (client: SocketClient) => client.send("{}"), "messagesPerMinute"],
    ["messages", (client: SocketClient) => client.send(""), "messagesPerMinute"],
  ])("%s without reading is disconnected with 1008", async (what, send, setting) => {
    const client = await open(await start({ script: "Hello.", config: few }));
    client.socket.pause();
    for (let count = 0; count < 100; count++) send(client);
    client.socket.resume();
    expect(await client.closed).toEqual({
      code: 1008,
      reason: `More than 20 ${what} in a minute (webSocket.${setting}).`,
    });
  });

  test("fragments of one message is disconnected with 1008", async () => {
    const client = await open(await start({ script: "Hello." }));
    for (let count = 0; count < 20_000; count++) client.socket.send("", { fin: false });
    expect((await client.closed).code).toBe(1008);
  });
});

test("a ping within the limit is answered with what it carries", async () => {
  const client = await open(await start({ script: "Hello." }));
  const ponged = once(client.socket, "pong");
  client.socket.ping("here");
  expect(String((await ponged)[0])).toBe("here");
});

test("a client that does not read is cut off, though it sends signs of life", async () => {
  const flood: string[] = Array(16).fill("x".repeat(1_000_000));
  const server = await start({
    script: [{ text: flood }],
    config: { keepAliveMs: 100, stallMs: 100, webSocket: { pingsPerMinute: 60_000 } },
  });
  const { port } = new URL(server.baseURL);
  const raw = connect(Number(port), "127.0.0.1").pause();
  onTestFinished(() => void raw.destroy());
  const failed = new Promise<void>((resolve) => raw.once("error", () => resolve()));
  raw.write(handshake(port));
  raw.write(frameOf(1, JSON.stringify({ type: "response.create", ...ask })));
  const pinging = setInterval(() => raw.write(frameOf(9, "alive")), 10);
  // The next ping after the cut is refused by the system.
  await failed;
  clearInterval(pinging);
  await expect.poll(async () => (await server.model.request(0)).wasLeft).toBe(true);
});

describe("a message that does not become whole", () => {
  test("has a limit of time, whatever else is sent meanwhile", async () => {
    const config: ConfigInput = { keepAliveMs: 100, limits: { requestMs: 100 } };
    const client = await open(await start({ script: "Hello.", config }));
    expect((await client.ask(ask)).last.type).toBe("response.completed");
    client.socket.send("{", { fin: false });
    const pinging = setInterval(() => client.socket.ping("alive"), 20);
    onTestFinished(() => clearInterval(pinging));
    expect(await client.closed).toEqual({
      code: 1008,
      reason: "A message took longer than 0.1 seconds to arrive (limits.requestMs).",
    });
  });

  test("counts among the bytes of its owner until its connection ends", async () => {
    const config: ConfigInput = { limits: { bodyBytesPerOwner: 1_000_000 } };
    const server = await start({ script: ["Hello.", "Hello."], config });
    const half = "x".repeat(600_000);
    const [first, second, third] = [await open(server), await open(server), await open(server)];
    first.socket.send(half, { fin: false });
    // Both are read, as far as they may be, before one of them is refused.
    second.socket.send(half, { fin: false });
    const { code, reason } = await Promise.race([first.closed, second.closed]);
    expect({ code, reason }).toEqual({
      code: 1008,
      reason: "One owner has too much in flight (limits.bodyBytesPerOwner).",
    });
    // A short message does not suffer from it.
    expect((await third.ask(ask)).last.type).toBe("response.completed");
    first.socket.terminate();
    second.socket.terminate();
    await expect
      .poll(async () => (await third.ask({ ...ask, input: "y".repeat(600_000) })).last.type)
      .toBe("response.completed");
  });

  test("may be interrupted by pings, which do not make those that follow look unfinished", async () => {
    const config: ConfigInput = { keepAliveMs: 100, limits: { requestMs: 100 } };
    const client = await open(await start({ script: ["Hello.", "Hello."], config }));
    for (let count = 0; count < 30; count++) {
      const ponged = once(client.socket, "pong");
      client.socket.ping("x".repeat(count * 4));
      await ponged;
    }
    // Longer than the limit, by the server's own pings.
    for (let count = 0; count < 3; count++) await once(client.socket, "ping");
    expect((await client.ask(ask)).last.type).toBe("response.completed");
  });
});

test("a frame is not unpacked: compression is not negotiated", async () => {
  const server = await start({ script: "Hello." });
  const client = await open(server);
  expect(client.socket.extensions).toBe("");
});

describe("the number of connections", () => {
  const keys = [
    { owner: "ann", hash: hashKey("ann's") },
    { owner: "bob", hash: hashKey("bob's") },
  ];

  test("of one owner is limited, and others are not concerned", async () => {
    const config: ConfigInput = { auth: { keys }, webSocket: { connectionsPerOwner: 2 } };
    const server = await start({ script: "Hello.", config });
    const first = await open(server, "ann's");
    await open(server, "ann's");
    await expect(open(server, "ann's")).rejects.toMatchObject({
      status: 429,
      message: expect.stringContaining("webSocket.connectionsPerOwner"),
    });
    await open(server, "bob's");
    first.close();
    await first.closed;
    await expect.poll(() => open(server, "ann's").then(Boolean, () => false)).toBe(true);
  });

  test("in all is limited", async () => {
    const config: ConfigInput = { auth: { keys }, webSocket: { connections: 1 } };
    const server = await start({ script: "Hello.", config });
    await open(server, "ann's");
    await expect(open(server, "bob's")).rejects.toMatchObject({
      status: 503,
      message: expect.stringContaining("too_many_connections"),
    });
  });
});

test("a response counts among the requests of its owner", async () => {
  const gate = Promise.withResolvers<string>();
  const wait = tool("wait", "Waits.", {}, () => gate.promise);
  const server = await start({
    script: [{ calls: [{ name: "wait" }] }, "Done.", "Again."],
    tools: [wait],
    config: { limits: { requestsPerOwner: 1 } },
  });
  const [client, other] = [await open(server), await open(server)];
  client.send({ type: "response.create", ...ask });
  await client.next("response.mcp_call.in_progress");
  const { last } = await other.ask({ ...ask, stream_id: "lane" });
  expect(last).toMatchObject({
    status: 429,
    stream_id: "lane",
    error: { type: "rate_limit_error", code: "too_many_requests" },
  });
  const refused = await server.fetch(`${server.baseURL}/models`);
  expect(refused.status).toBe(429);
  expect(refused.headers.get("retry-after")).toBe("1");
  gate.resolve("waited");
  expect((await client.answer()).response.status).toBe("completed");
  await expect.poll(async () => (await other.ask(ask)).last.type).toBe("response.completed");
});

test("the answer that opens a connection, and the one that refuses it, have the headers of all answers", async () => {
  const server = await start({ script: "Hello." });
  const { port } = new URL(server.baseURL);
  for (const text of [handshake(port), handshake(port).replace("Version: 13", "Version: 1")]) {
    const client = await RawClient.connect(Number(port));
    client.socket.write(text);
    const [head] = await client.until(/^.*?\r\n\r\n/s);
    expect(head.toLowerCase()).toContain("x-content-type-options: nosniff");
    expect(head.toLowerCase()).toContain("cross-origin-resource-policy: same-origin");
    client.socket.destroy();
  }
});

test("a connection ends with the token that has opened it, and what runs on it is cancelled", async () => {
  const secret = "a secret that both sides share, long enough";
  const wait = tool("wait", "Waits.", {}, (_input, { signal }) => once(signal, "abort"));
  const server = await start({
    script: { calls: [{ name: "wait" }] },
    tools: [wait],
    config: { auth: { jwt: { issuer: "me", secret } } },
  });
  // Clocks may be five seconds off, so there are one or two left.
  const exp = Math.floor(Date.now() / 1000) - 3;
  const token = await new SignJWT({ iss: "me", sub: "ann", exp })
    .setProtectedHeader({ alg: "HS256" })
    .sign(Buffer.from(secret));
  const client = await open(server, token);
  client.send({ type: "response.create", ...ask });
  await client.next("response.mcp_call.in_progress");
  expect(await client.next("error")).toMatchObject({ status: 401, error: { code: "token_expired" } });
  expect((await client.closed).code).toBe(1008);
});

function handshake(port: string): string {
  return [
    "GET /v1/responses HTTP/1.1",
    `Host: 127.0.0.1:${port}`,
    "Connection: Upgrade",
    "Upgrade: websocket",
    "Sec-WebSocket-Version: 13",
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
    "\r\n",
  ].join("\r\n");
}

/** A masked frame, with a mask of zeros. */
function frameOf(opcode: number, text: string): Buffer {
  const payload = Buffer.from(text);
  return Buffer.concat([Buffer.from([0x80 | opcode, 0x80 | payload.length, 0, 0, 0, 0]), payload]);
}
