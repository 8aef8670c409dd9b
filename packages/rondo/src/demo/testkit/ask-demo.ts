// What the tests of the demo model share: real tools, and ways to ask.

import { type Message, type ModelProvider, query, tool } from "../../index.ts";
import type { ModelRequest } from "../../models.ts";
import type { AnyTool } from "../../tool/tool.ts";
import { demoModel } from "../index.ts";

const numbers = { a: Number, b: Number };
export const add = tool("add", "Add two numbers.", numbers, ({ a, b }) => a + b);
export const multiply = tool("multiply", "Multiply two numbers.", numbers, ({ a, b }) => a * b);
export const clock = tool("get_time", "What time it is.", {}, () => "12:30");
export const weather = tool("get_weather", "The weather.", { city: String }, ({ city }) => `Sun in ${city}`);
export const search = tool(
  "search_docs",
  "Search the docs.",
  { query: String },
  ({ query }) => `2 × ${query}`,
);
export const echo = tool("echo", "Give back.", { text: String }, ({ text }) => text.toUpperCase());

/** Asks once with tools that run, and returns all calls by round, and the answer. */
export async function ask(
  prompt: string,
  tools: AnyTool[] = [],
  model: ModelProvider = demoModel(),
): Promise<{ rounds: string[][]; text: string }> {
  const rounds: string[][] = [];
  let text = "";
  let isNew = true;
  for await (const message of query({ prompt, options: { model, tools, autoExecuteTools: true } })) {
    if (message.type === "result") text = message.text;
    if (message.type === "user") isNew = true;
    if (message.type !== "assistant") continue;
    for (const block of message.content) {
      if (block.type !== "tool_use") continue;
      if (isNew) rounds.push([]);
      isNew = false;
      rounds.at(-1)?.push(`${block.name}(${Object.values(block.input).join(", ")})`);
    }
  }
  return { rounds, text };
}

/** The request that a prompt alone makes. */
export function requestOf(prompt: string, rest: Partial<ModelRequest> = {}): ModelRequest {
  const messages: Message[] = [{ role: "user", content: prompt }];
  return { messages, ...rest };
}
