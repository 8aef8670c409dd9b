// What the tests of agents share: two tools, and an agent that has a registry to itself.

import { Agent, type AgentOptions, Registry, tool } from "../../index.ts";

export const add = tool("add", "Add two numbers.", { a: Number, b: Number }, ({ a, b }) => a + b);
export const count = tool("count", "Count up.", { to: Number }, async function* ({ to }) {
  for (let n = 1; n <= to; n += 1) yield n;
});

export function agentWith(tools: AgentOptions["tools"], registry = new Registry()): Agent {
  return new Agent({ name: "worker", tools, registry });
}
