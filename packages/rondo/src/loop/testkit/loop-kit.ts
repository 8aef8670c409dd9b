// What the tests of the loop share: two tools, a prompt, and ways to look at what happens.

import { type Message, tool } from "../../index.ts";
import { type LoopEvent, type LoopOptions, run } from "../../loop.ts";

export const add = tool("add", "Add two numbers.", { a: Number, b: Number }, ({ a, b }) => a + b);
export const fail = tool("fail", "Fails.", {}, () => {
  throw new Error("broken");
});
export const prompt: Message[] = [{ role: "user", content: "What is 1 + 2?" }];
export const callAdd = { name: "add", input: { a: 1, b: 2 } };

export async function eventsOf(messages: Message[], options: LoopOptions): Promise<LoopEvent[]> {
  const events: LoopEvent[] = [];
  for await (const event of run(messages, options)) events.push(event);
  return events;
}

export const types = (events: readonly LoopEvent[]): string[] => events.map(({ type }) => type);
export const last = (events: readonly LoopEvent[]): LoopEvent | undefined => events.at(-1);
