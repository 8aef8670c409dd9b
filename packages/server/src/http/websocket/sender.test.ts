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

test("a client that does not read holds the sender back, until it reads", async () => {
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

test("a client that goes away holds nobody back", async () => {
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

test("what is sent in one tick comes in its order", async () => {
  const { client, sender } = await pair();
  await once(client, "open");
  const texts: string[] = [];
  client.on("message", (data) => texts.push((data as Buffer).toString()));
  const sent = Array.from({ length: 100 }, (_, index) => `${index}`);
  for (const text of sent) sender.send(text);
  await expect.poll(() => texts).toEqual(sent);
});
