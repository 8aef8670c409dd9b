// Run as a process of its own, with little memory: reads long hostile texts, and prints what is not as it should be.

import { ChatStreamReader } from "../../chat-stream-reader.ts";
import { commonProfile } from "../../profiles.ts";
import { hostileTexts, repeated } from "./hostile-text.ts";
import { chunkOf } from "./read-all.ts";

const [length = "", ...names] = process.argv.slice(2);

function read(pieces: Iterable<string>): { text: number; calls: string[] } {
  const reader = new ChatStreamReader({ profile: commonProfile, toolNames: ["add", "ping"] });
  const seen = { text: 0, calls: [] as string[] };
  const take = (deltas: ReturnType<ChatStreamReader["take"]>) => {
    for (const delta of deltas)
      if (delta.type === "text.delta") seen.text += delta.text.length;
      else if (delta.type === "call.ended") seen.calls.push(delta.arguments);
  };
  for (const piece of pieces) {
    reader.read(chunkOf({ content: piece }));
    take(reader.take());
  }
  take(reader.end({ isCutOff: false, hasEnd: true }));
  return seen;
}

for (const { name, make } of hostileTexts) {
  if (!names.includes(name)) continue;
  const text = make(Number(length));
  const { text: left, calls } = read([text]);
  if (left + calls.length === 0) console.log(`${name}: nothing was read`);
}

/** Each chunk has a long text for the user and one short call. */
function* chunksWithCalls(): Generator<string> {
  for (let i = 0; i < 40; i++)
    yield `${repeated(`text ${i} `, 1_000_000)}<tool_call>{"name":"add","arguments":{"number":"${i} of many"}}</tool_call>\n`;
}

/** What is still reachable, in millions of bytes. */
function heldMegabytes(): number {
  globalThis.gc?.();
  return process.memoryUsage().heapUsed / 1e6;
}

const before = heldMegabytes();
const { calls } = read(chunksWithCalls());
const held = heldMegabytes() - before;
if (calls.length !== 40) console.log(`${calls.length} calls in the text instead of 40`);
if (held > 4) console.log(`40 calls keep ${held.toFixed(1)} MB of the text`);
console.log("done");
