import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { setImmediate as nextTick } from "node:timers/promises";
import fc from "fast-check";
import { expect, onTestFinished, test, vi } from "vitest";
import { type SseOptions, SseWriter } from "./sse.ts";
import { RawClient, serveNode } from "./testkit/raw-http.ts";

const quiet: SseOptions = { keepAliveMs: 0 };

/** A client that has asked, and the writer that answers it. */
async function open(options: SseOptions = quiet) {
  const { promise, resolve } = Promise.withResolvers<{ writer: SseWriter; outgoing: ServerResponse }>();
  const server = await serveNode((_incoming, outgoing) =>
    resolve({ outgoing, writer: new SseWriter(outgoing, options) }),
  );
  const client = await RawClient.connect(server.port);
  client.request("GET", "/");
  return { ...(await promise), client, server, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
}

/** The body of a chunked answer, with the sizes of its chunks. */
function chunksOf(received: string): string[] {
  const bytes = Buffer.from(received);
  let at = bytes.indexOf("\r\n\r\n") + 4;
  const chunks: string[] = [];
  for (;;) {
    const lineEnd = bytes.indexOf("\r\n", at);
    if (lineEnd < 0) return chunks;
    const size = Number.parseInt(bytes.toString("latin1", at, lineEnd), 16);
    if (size === 0) return chunks;
    chunks.push(bytes.toString("utf8", lineEnd + 2, lineEnd + 2 + size));
    at = lineEnd + 2 + size + 2;
  }
}

/** Waits until what the kernel takes is full, and stays so: the writer waits for the reader. */
async function untilStuck(writer: SseWriter): Promise<void> {
  for (let ticks = 0, last = writer.drained; ticks < 200; ticks++) {
    await nextTick();
    if (writer.drained === undefined || writer.drained !== last) ticks = 0;
    last = writer.drained;
  }
}

/** The events of a stream; fails on lines that are none of `event`, `data` or a comment. */
function eventsOf(text: string) {
  const frames = text.split("\n\n").slice(0, -1);
  return frames.flatMap((frame) => {
    if (frame.startsWith(":")) return [];
    const [, event, data] = /^(?:event: (.*)\n)?data: (.*)$/.exec(frame) ?? [];
    if (data === undefined) throw new Error(`This is no frame: ${JSON.stringify(frame)}`);
    return [{ event, data }];
  });
}

test("events have the API's format, and the stream ends with [DONE]", async () => {
  await using stream = await open({ keepAliveMs: 0, headers: { "x-request-id": "req_1" } });
  stream.writer.send("response.created", '{"type":"response.created"}');
  stream.writer.send("response.completed", '{"type":"response.completed"}');
  stream.writer.end();
  await stream.client.until(/\r\n0\r\n/);
  const [head = ""] = stream.client.received.split("\r\n\r\n");
  expect(head.toLowerCase()).toContain("content-type: text/event-stream; charset=utf-8");
  expect(head.toLowerCase()).toContain("cache-control: no-cache");
  expect(head.toLowerCase()).toContain("x-accel-buffering: no");
  expect(head).toContain("x-request-id: req_1");
  expect(chunksOf(stream.client.received).join("")).toBe(
    'event: response.created\ndata: {"type":"response.created"}\n\nevent: response.completed\ndata: {"type":"response.completed"}\n\ndata: [DONE]\n\n',
  );
});

test("for a client that asks for it, events are collected, but not after a silence, nor at the end", async () => {
  const collectMs = 400;
  await using stream = await open({ keepAliveMs: 0, collectMs });
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  stream.writer.send("a", "1");
  await stream.client.until(/event: a\ndata: 1\n/);
  for (let i = 0; i < 5; i++) {
    stream.writer.send("b", String(i));
    await nextTick();
  }
  vi.advanceTimersByTime(collectMs - 1);
  await nextTick();
  expect(stream.client.received).not.toContain("event: b");
  vi.advanceTimersByTime(1);
  await stream.client.until(/event: b\ndata: 4\n/);
  expect(chunksOf(stream.client.received)).toHaveLength(2);
  stream.writer.send("c", "1");
  stream.writer.end();
  await stream.client.until(/event: c\ndata: 1\n[\s\S]*\r\n0\r\n/);
});

test("the frames of one tick are one write, and those of the next tick another", async () => {
  await using stream = await open();
  for (let i = 0; i < 50; i++) stream.writer.send("a", String(i));
  await nextTick();
  await nextTick();
  for (let i = 0; i < 50; i++) stream.writer.send("b", String(i));
  await stream.client.until(/event: b\ndata: 49\n/);
  const chunks = chunksOf(stream.client.received);
  expect(chunks.map((chunk) => eventsOf(chunk).length)).toEqual([50, 50]);
});

test("thousands of frames in one tick all arrive, in order", async () => {
  await using stream = await open();
  const sent = Array.from({ length: 20_000 }, (_, i) => ({ event: `e${i}`, data: JSON.stringify({ i }) }));
  for (const { event, data } of sent) stream.writer.send(event, data);
  stream.writer.end();
  await stream.client.until(/\r\n0\r\n/);
  const received = eventsOf(chunksOf(stream.client.received).join(""));
  expect(received).toEqual([...sent, { event: undefined, data: "[DONE]" }]);
});

test("any texts in any grouping arrive unchanged", async () => {
  const event = fc.record({ event: fc.stringMatching(/^[a-z.]{1,20}$/), data: fc.jsonValue() });
  await fc.assert(
    fc.asyncProperty(fc.array(fc.array(event, { maxLength: 8 }), { maxLength: 6 }), async (ticks) => {
      await using stream = await open();
      const sent: { event: string | undefined; data: string }[] = [];
      for (const tick of ticks) {
        for (const { event, data } of tick) {
          sent.push({ event, data: JSON.stringify(data) });
          stream.writer.send(event, JSON.stringify(data));
        }
        await nextTick();
      }
      stream.writer.end();
      await stream.client.until(/\r\n0\r\n/);
      const text = chunksOf(stream.client.received).join("");
      expect(eventsOf(text)).toEqual([...sent, { event: undefined, data: "[DONE]" }]);
    }),
    { numRuns: 30 },
  );
});

test("a slow reader applies back-pressure, and gets everything in the end", async () => {
  await using stream = await open();
  const { writer, client, outgoing } = stream;
  client.socket.pause();
  const data = JSON.stringify("x".repeat(10_000));
  let sent = 0;
  const sender = (async () => {
    for (; sent < 3000; sent++) {
      writer.send("delta", data);
      await writer.drained;
      if (sent % 20 === 0) await nextTick();
    }
    writer.end();
  })();
  await untilStuck(writer);
  expect(sent).toBeLessThan(2999);
  expect(outgoing.writableLength).toBeLessThan(1_000_000);
  client.socket.resume();
  await sender;
  await client.until(/\r\n0\r\n\r\n$/);
  expect(client.received.match(/^event: delta$/gm)).toHaveLength(3000);
});

test("a reader that disconnects releases the waiting sender, and nothing is kept for it", async () => {
  await using stream = await open();
  const { writer, client, outgoing } = stream;
  client.socket.pause();
  const data = JSON.stringify("x".repeat(100_000));
  const sender = (async () => {
    while (!outgoing.destroyed) {
      writer.send("delta", data);
      await writer.drained;
    }
  })();
  await untilStuck(writer);
  client.socket.destroy();
  await sender;
  expect(outgoing.destroyed).toBe(true);
  for (let i = 0; i < 1000; i++) writer.send("delta", data);
  writer.end();
  expect(writer.drained).toBeUndefined();
  expect(outgoing.writableLength).toBeLessThan(1_000_000);
});

test("a writer for a client that is already gone drops everything", async () => {
  const { promise, resolve } = Promise.withResolvers<ServerResponse>();
  await using server = await serveNode((_incoming, outgoing) => resolve(outgoing));
  const client = await RawClient.connect(server.port);
  client.request("GET", "/");
  const outgoing = await promise;
  client.socket.destroy();
  await once(outgoing, "close");
  const writer = new SseWriter(outgoing, { keepAliveMs: 1 });
  writer.send("a", "1");
  writer.end();
  expect(writer.drained).toBeUndefined();
  expect(outgoing.headersSent).toBe(false);
});

test("silence is filled with comments, which are not events", async () => {
  await using stream = await open({ keepAliveMs: 5 });
  await stream.client.until(/(?:: keep-alive\n\n[\s\S]*){3}/);
  stream.writer.send("a", "1");
  stream.writer.end();
  await stream.client.until(/\r\n0\r\n/);
  const received = chunksOf(stream.client.received).join("");
  expect(eventsOf(received)).toEqual([
    { event: "a", data: "1" },
    { event: undefined, data: "[DONE]" },
  ]);
});

test("a stream that is cut ends without [DONE]", async () => {
  await using stream = await open();
  stream.writer.send("a", "1");
  stream.writer.cut();
  await stream.client.until(/\r\n0\r\n/);
  expect(eventsOf(chunksOf(stream.client.received).join(""))).toEqual([{ event: "a", data: "1" }]);
});

test("nothing is written before the first event, so that an error reply is still possible", async () => {
  await using stream = await open();
  expect(stream.writer.isStarted).toBe(false);
  stream.outgoing.writeHead(404).end();
  await stream.client.until(/404 Not Found/);
  stream.writer.send("a", "1");
  await nextTick();
  expect(stream.client.received).not.toContain("event: a");
});
