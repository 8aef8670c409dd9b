// The model server for all contenders: a separate process, as fast as possible. Answers are rendered once, and the
// conversation alone selects one: the user's last message says what to do, and the tool results after it how far
// that has come.
//
//   stream N     a text in N chunks, each in a separate write
//   pace N       the same, a chunk every few milliseconds, like a fast model
//   clock N      N chunks, one every 20 ms, each of which is the time at which it was sent
//   burst N      the same, in writes of many chunks: a model that is faster than its client
//   loop N       one call of `add` after the other, N in total, then a short text
//   parallel N   N calls of `add` at once, then a short text
//   mixed N      a text in N chunks of 1 to 200 characters, each in a separate write
//   think N      N answers with thinking and two calls of `add`, then a short text
//   hold         one chunk of text, and no end until the client disconnects
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { mixedPieces } from "./mixed-text.ts";

interface ChatMessage {
  readonly role: string;
  readonly content: unknown;
}

interface Answer {
  /** Written one after the other. */
  readonly frames: readonly Buffer[];
  /** The same for plain requests. */
  readonly whole: Buffer;
  readonly isHeld: boolean;
  /** The time between two writes; 0 for one in each tick. */
  readonly paceMs: number;
}

const piece = " word";
const burstBytes = 65_536;
const thinkingPieces = 40;
const paceMs = 5;
const clockMs = 20;
const common = { object: "chat.completion.chunk", created: 1_750_000_000, model: "bench" };
const usage = { prompt_tokens: 10, completion_tokens: 20, total_tokens: 30 };
const textTasks = new Set(["stream", "pace", "burst", "hold"]);
const answers = new Map<string, Answer>();

const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
  handle(request, response).catch(() => response.destroy());
});
server.listen({ port: 0, host: "127.0.0.1", backlog: 4096 });
await once(server, "listening");
process.send?.({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1` });
process.once("disconnect", () => process.exit());

async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (request.method === "GET") {
    sendJson(
      response,
      Buffer.from(JSON.stringify({ object: "list", data: [{ id: "bench", object: "model" }] })),
    );
    return;
  }
  const body = JSON.parse((await buffer(request)).toString()) as {
    messages: readonly ChatMessage[];
    stream?: boolean;
  };
  const ticks = /^clock (\d+)/.exec(textOf(body.messages.findLast(({ role }) => role === "user")?.content));
  if (ticks) {
    await streamClock(response, Number(ticks[1]));
    return;
  }
  const answer = answerTo(body.messages);
  if (body.stream) await stream(response, answer);
  else sendJson(response, answer.whole);
}

function sendJson(response: ServerResponse, bytes: Buffer): void {
  response.writeHead(200, { "content-type": "application/json", "content-length": bytes.length });
  response.end(bytes);
}

/** Writes one frame after the other, each separately, no faster than the client reads. */
function stream(response: ServerResponse, { frames, isHeld, paceMs }: Answer): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  let next = 0;
  const write = (): void => {
    const frame = response.destroyed ? undefined : frames[next++];
    if (!frame) {
      if (!isHeld) response.end();
      resolve();
    } else if (response.write(frame)) {
      if (paceMs > 0) setTimeout(write, paceMs);
      else setImmediate(write);
    } else response.once("drain", write);
  };
  response.once("close", resolve);
  response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" });
  // Nagle's algorithm would join several chunks into one packet.
  response.socket?.setNoDelay(true);
  write();
  return promise;
}

/** The time of this machine, which all processes of a measurement share. */
async function streamClock(response: ServerResponse, count: number): Promise<void> {
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.socket?.setNoDelay(true);
  for (let tick = 0; tick < count && !response.destroyed; tick++) {
    const now = (performance.timeOrigin + performance.now()).toFixed(2);
    response.write(render("chatcmpl-clock", [{ content: `<${now}>` }], "stop")[0]);
    await new Promise((resolve) => setTimeout(resolve, clockMs));
  }
  for (const frame of render("chatcmpl-clock", [], "stop")) response.write(frame);
  response.end();
}

function answerTo(messages: readonly ChatMessage[]): Answer {
  const start = messages.findLastIndex(({ role }) => role === "user");
  const results = messages.slice(start + 1).filter(({ role }) => role === "tool").length;
  const [task = "", count = "1"] = textOf(messages[start]?.content).split(" ");
  const key = `${task} ${count} ${results}`;
  const answer = answers.get(key) ?? makeAnswer(task, Number(count), results);
  answers.set(key, answer);
  return answer;
}

function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  return (content as { text?: string }[])?.map(({ text = "" }) => text).join("") ?? "";
}

function makeAnswer(task: string, count: number, results: number): Answer {
  // Some clients take two answers with the same id for one.
  const id = `chatcmpl-${results}`;
  if (task === "loop" && results < count) return callAnswer(id, [results]);
  if (task === "parallel" && results === 0)
    return callAnswer(
      id,
      Array.from({ length: count }, (_, i) => i),
    );
  if (task === "think" && results < 2 * count)
    return callAnswer(id, [results, results + 1], mixedPieces(thinkingPieces, results + 1));
  if (task === "mixed") return textAnswer(id, mixedPieces(count));
  const answer = textAnswer(
    id,
    Array.from({ length: textTasks.has(task) ? count : 3 }, () => piece),
  );
  if (task === "hold") return { ...answer, frames: answer.frames.slice(0, 2), isHeld: true };
  if (task === "pace") return { ...answer, paceMs };
  if (task === "burst") return { ...answer, frames: joined(answer.frames) };
  return answer;
}

/** The same bytes in fewer writes. */
function joined(frames: readonly Buffer[]): Buffer[] {
  const bytes = Buffer.concat(frames);
  const count = Math.ceil(bytes.length / burstBytes);
  return Array.from({ length: count }, (_, i) => bytes.subarray(i * burstBytes, (i + 1) * burstBytes));
}

function textAnswer(id: string, pieces: readonly string[]): Answer {
  const deltas = pieces.map((content) => ({ content }));
  return {
    frames: render(id, [{ role: "assistant", content: "" }, ...deltas], "stop"),
    whole: renderWhole(id, { content: pieces.join("") }, "stop"),
    isHeld: false,
    paceMs: 0,
  };
}

function callAnswer(id: string, numbers: readonly number[], thinking: readonly string[] = []): Answer {
  const calls = numbers.map((number) => ({
    id: `call_${number}`,
    type: "function",
    function: { name: "add", arguments: JSON.stringify({ a: number, b: 1 }) },
  }));
  const deltas = calls.flatMap(({ function: { name, arguments: text }, ...call }, index) => [
    { tool_calls: [{ index, ...call, function: { name, arguments: "" } }] },
    ...[text.slice(0, 4), text.slice(4)].map((part) => ({
      tool_calls: [{ index, function: { arguments: part } }],
    })),
  ]);
  return {
    frames: render(
      id,
      [
        { role: "assistant", content: null },
        ...thinking.map((reasoning_content) => ({ reasoning_content })),
        ...deltas,
      ],
      "tool_calls",
    ),
    whole: renderWhole(id, { content: null, tool_calls: calls }, "tool_calls"),
    isHeld: false,
    paceMs: 0,
  };
}

function render(id: string, deltas: readonly object[], reason: string): Buffer[] {
  const choice = (delta: object, finish_reason: string | null) => ({
    id,
    ...common,
    choices: [{ index: 0, delta, logprobs: null, finish_reason }],
  });
  const chunks = [
    ...deltas.map((delta) => choice(delta, null)),
    choice({}, reason),
    { id, ...common, choices: [], usage },
  ];
  const frames = [...chunks.map((chunk) => JSON.stringify(chunk)), "[DONE]"];
  return frames.map((text) => Buffer.from(`data: ${text}\n\n`));
}

function renderWhole(id: string, message: object, finish_reason: string): Buffer {
  const choices = [{ index: 0, message: { role: "assistant", ...message }, logprobs: null, finish_reason }];
  return Buffer.from(JSON.stringify({ id, ...common, object: "chat.completion", choices, usage }));
}
