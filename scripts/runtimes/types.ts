// Compiled with older TypeScripts, against the declarations as they are published.
import { Agent, type Block, Client, query, Turn, tool } from "rondo";
import { run } from "rondo/loop";
import { scriptedModel } from "rondo/testing";

const add = tool("add", "Add two numbers.", { a: Number, b: Number }, ({ a, b }) => a + b);
const model = scriptedModel([]);
const agent = new Agent({ name: "worker", tools: [add], registry: false });

export async function values(): Promise<number[]> {
  await agent.put(new Turn(add, { a: 1, b: 2 }));
  const list: number[] = [];
  for await (const [, value] of agent.run()) list.push(value);
  return list;
}

export async function sum(): Promise<number> {
  const { output } = await query({ prompt: "Hi", options: { model, output: { sum: Number } } }).result();
  return output.sum;
}

export function read(block: Block<typeof add>): number {
  return block.type === "tool_use" && block.name === "add" ? block.input.a : 0;
}

export const client = new Client({ model, tools: [add] });
export const events = () => run([], { model, tools: [add] });
