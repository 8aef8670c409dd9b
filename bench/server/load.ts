// The load generator: a separate process that sends requests to a server as instructed, and reports times.
import { Agent, type IncomingMessage, request } from "node:http";
import { text } from "node:stream/consumers";
import type { Body, LoadRequest, LoadResult } from "./load-messages.ts";

const agent = new Agent({ keepAlive: true });
let held: IncomingMessage[] = [];

process.on("message", (job: LoadRequest) => {
  const start = performance.now();
  run(job).then(
    (result) => process.send?.({ wallMs: performance.now() - start, timesMs: [], ...result }),
    (error: unknown) => process.send?.({ error: String(error) }),
  );
});
process.once("disconnect", () => process.exit());

async function run(job: LoadRequest): Promise<Partial<LoadResult>> {
  switch (job.type) {
    case "streams": {
      const texts = await Promise.all(Array.from({ length: job.count }, () => readStream(job.url, job.body)));
      return {
        deltas: texts.reduce((sum, { deltas }) => sum + deltas, 0),
        characters: texts.reduce((sum, { characters }) => sum + characters, 0),
      };
    }
    case "requests":
      return { timesMs: await sendRequests(job) };
    case "first-token": {
      const timesMs: number[] = [];
      const directMs: number[] = [];
      for (let i = 0; i < job.count; i++) {
        directMs.push(await firstTokenMs(job.directUrl, job.directBody));
        timesMs.push(await firstTokenMs(job.url, job.body));
      }
      return { timesMs, directMs };
    }
    case "hold":
      held = await Promise.all(Array.from({ length: job.count }, () => openAndHold(job.url, job.body)));
      return {};
    case "follow": {
      const delays = await Promise.all(Array.from({ length: job.count }, () => readClock(job.url)));
      return { timesMs: delays.flat() };
    }
    case "release":
      await Promise.all(held.splice(0).map(close));
      return {};
    default: {
      let previousId = job.previousId;
      for (let i = 0; i < job.count; i++) {
        const body = { ...job.body, ...(previousId && { previous_response_id: previousId }) };
        const answer = JSON.parse(await text(await post(job.url, body))) as { id: string; status: string };
        if (answer.status !== "completed") throw new Error(JSON.stringify(answer));
        previousId = answer.id;
      }
      return { ...(previousId && { lastId: previousId }) };
    }
  }
}

async function sendRequests({ url, body, count, connections }: LoadRequest & { type: "requests" }) {
  const timesMs: number[] = [];
  let left = count;
  const connection = async () => {
    while (left-- > 0) {
      const start = performance.now();
      const answer = await text(await post(url, body));
      timesMs.push(performance.now() - start);
      if (!answer.includes('"completed"')) throw new Error(`Expected a completed response, got ${answer}.`);
    }
  };
  await Promise.all(Array.from({ length: connections }, connection));
  return timesMs;
}

/** Reads to the end, and counts the text deltas and their length. */
async function readStream(url: string, body: Body): Promise<{ deltas: number; characters: number }> {
  const incoming = await post(url, body);
  let deltas = 0;
  let characters = 0;
  let rest = "";
  let isComplete = false;
  for await (const part of incoming.setEncoding("utf8") as AsyncIterable<string>) {
    const whole = rest + part;
    const end = whole.lastIndexOf("\n\n") + 1;
    const frames = whole.slice(0, end);
    for (const [, delta = ""] of frames.matchAll(/"delta":"([^"]*)"/g)) {
      deltas++;
      characters += delta.length;
    }
    isComplete ||= frames.includes("event: response.completed");
    rest = whole.slice(end);
  }
  if (!isComplete) throw new Error(`A stream ended before its response completed: ${rest}`);
  return { deltas, characters };
}

/** How long ago each chunk was sent when it came. Those that were there before are left out. */
async function readClock(url: string): Promise<number[]> {
  const start = now();
  const delays: number[] = [];
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const sent = request(url, { agent: false }, resolve);
  sent.on("error", reject);
  sent.end();
  let rest = "";
  for await (const part of (await promise).setEncoding("utf8") as AsyncIterable<string>) {
    const at = now();
    const whole = rest + part;
    const end = whole.lastIndexOf("\n\n") + 1;
    for (const [, delta = ""] of whole.slice(0, end).matchAll(/"delta":"([^"]*)"/g))
      for (const [, time] of delta.matchAll(/<([\d.]+)>/g))
        if (Number(time) > start) delays.push(at - Number(time));
    rest = whole.slice(end);
  }
  return delays;
}

function now(): number {
  return performance.timeOrigin + performance.now();
}

/** The time until the first text delta, for either API. */
async function firstTokenMs(url: string, body: Body): Promise<number> {
  const start = performance.now();
  const incoming = await post(url, body);
  let received = "";
  let timeMs: number | undefined;
  for await (const part of incoming.setEncoding("utf8") as AsyncIterable<string>) {
    received += part;
    if (timeMs === undefined && / word"/.test(received)) timeMs = performance.now() - start;
  }
  if (timeMs === undefined) throw new Error(`There was no text in ${received}.`);
  return timeMs;
}

async function openAndHold(url: string, body: Body): Promise<IncomingMessage> {
  const incoming = await post(url, body);
  incoming.setEncoding("utf8");
  let received = "";
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  incoming.on("data", (part: string) => {
    received = (received + part).slice(-4000);
    if (/ word"/.test(received)) resolve(incoming);
  });
  // Aborts of our own are errors too.
  incoming.on("error", () => reject(new Error(`A stream ended after ${received}.`)));
  return promise;
}

function close(incoming: IncomingMessage): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  incoming.once("close", resolve);
  incoming.destroy();
  return promise;
}

function post(url: string, body: Body): Promise<IncomingMessage> {
  const bytes = Buffer.from(JSON.stringify(body));
  const headers = { "content-type": "application/json", "content-length": bytes.length };
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const sent = request(url, { agent, method: "POST", headers }, resolve);
  sent.on("error", reject);
  sent.end(bytes);
  return promise;
}
