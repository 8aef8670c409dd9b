import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { WebSocket, WebSocketServer } from "ws";
import { Sender } from "./sender.ts";

async function pair() {
  const http = createServer().listen(0, "127.0.0.1");
  await once(http, "listening");
  const server = new WebSocketServer({ noServer: true });
  const opened = Promise.withResolvers<{ sender: Sender; socket: WebSocket }>();
  http.on("upgrade", (request, stream, head) =>
    server.handleUpgrade(request, stream, head, (socket) =>
      opened.resolve({ sender: new Sender(socket, stream), socket }),
    ),
  );
  const client = new WebSocket(`ws://127.0.0.1:${(http.address() as AddressInfo).port}`);
  onTestFinished(() => {
    client.terminate();
    http.close();
  });
  return { client, ...(await opened.promise) };
}

const megabyte = "x".repeat(1_000_000);

/** Sends until the client cannot keep up, and gives how much that was. */
function fill(sender: Sender): number {
  let count = 0;
  while (!sender.drained) {
    sender.send(megabyte);
    count++;
  }
  return count;
}

test("a client that does not read applies back-pressure until it reads", async () => {
  const { client, sender } = await pair();
  await once(client, "open");
  expect(sender.drained).toBeUndefined();
  client.pause();
  for (let i = 0; i < 20; i++) sender.send(megabyte);
  let isDrained = false;
  const drained = sender.drained?.then(() => (isDrained = true));
  expect(drained).toBeDefined();
  // More than the system takes by itself is waiting.
  await new Promise((resolve) => setImmediate(resolve));
  expect(isDrained).toBe(false);
  let received = 0;
  client.on("message", () => received++);
  client.resume();
  await drained;
  expect(sender.drained).toBeUndefined();
  await expect.poll(() => received).toBe(20);
});

test("a client that disconnects releases the sender", async () => {
  const { client, sender, socket } = await pair();
  await once(client, "open");
  client.pause();
  fill(sender);
  const { drained } = sender;
  socket.terminate();
  await drained;
  expect(sender.drained).toBeUndefined();
  sender.send("dropped");
});

test("frames of one tick arrive in order", async () => {
  const { client, sender } = await pair();
  await once(client, "open");
  const texts: string[] = [];
  client.on("message", (data) => texts.push((data as Buffer).toString()));
  const sent = Array.from({ length: 100 }, (_, index) => `${index}`);
  for (const text of sent) sender.send(text);
  await expect.poll(() => texts).toEqual(sent);
});

test("while a client does not read, at most one pong is kept, for the newest ping", async () => {
  const { client, sender } = await pair();
  await once(client, "open");
  client.pause();
  fill(sender);
  const before = sender.unsentBytes;
  for (let index = 0; index < 10_000; index++) sender.pong(Buffer.from(String(index).padStart(125)));
  // One frame: 2 bytes and the longest payload that there is.
  expect(sender.unsentBytes - before).toBe(127);
  const pongs: string[] = [];
  client.on("pong", (payload) => pongs.push(String(payload).trim()));
  client.resume();
  await expect.poll(() => pongs).toEqual(["0", "9999"]);
});

test("a client that does not read is stalled, whatever it sends; one that reads is not", async () => {
  const { client, sender, socket } = await pair();
  await once(client, "open");
  expect(sender.stalledMs).toBe(0);
  client.pause();
  fill(sender);
  const pinged = once(socket, "ping");
  client.ping();
  await pinged;
  const earlier = sender.stalledMs;
  await expect.poll(() => sender.stalledMs).toBeGreaterThan(earlier);
  sender.ping();
  const pings: unknown[] = [];
  client.on("ping", (payload) => pings.push(payload));
  client.resume();
  await expect.poll(() => sender.stalledMs).toBe(0);
  sender.ping();
  await expect.poll(() => pings.length).toBe(1);
});
