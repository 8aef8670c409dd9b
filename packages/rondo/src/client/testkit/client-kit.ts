// Shared by the tests of the client: two tools, a client for a scripted model, and helpers.

import { Client, type ClientOptions, type Message, tool } from "../../index.ts";
import type { ScriptedModel } from "../../testing/index.ts";
import type { Block } from "../blocks.ts";

export const add = tool("add", "Add two numbers.", { a: Number, b: Number }, ({ a, b }) => a + b);
const fail = tool("fail", "Fails.", {}, () => {
  throw new Error("broken");
});
export const callAdd = { name: "add", input: { a: 25, b: 17 } };

export function clientFor(model: ScriptedModel, options: Partial<ClientOptions> = {}): Client {
  return new Client({ model, tools: [add, fail], ...options });
}

export async function blocksOf(client: Client): Promise<Block[]> {
  const blocks: Block[] = [];
  for await (const block of client.receiveMessages()) blocks.push(block);
  return blocks;
}

/** Asks once and gives the blocks of the answer. */
export async function ask(client: Client, prompt: string): Promise<Block[]> {
  await client.query(prompt);
  return blocksOf(client);
}

export const kinds = (blocks: readonly Block[]): string[] => blocks.map(({ type }) => type);
export const roles = (messages: readonly Message[]): string[] => messages.map(({ role }) => role);
