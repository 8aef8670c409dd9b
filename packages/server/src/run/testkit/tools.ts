// Tools for the tests of runs, with their calls and what is told of them.

import { type AnyTool, tool } from "rondo";
import type { OutputItem } from "../../protocol/items.ts";

export const add: AnyTool = tool("add", "Adds.", { a: Number, b: Number }, ({ a, b }) => a + b);

export const broken: AnyTool = tool("broken", "Never works.", {}, () => {
  throw new Error("The mainspring is broken.");
});

export const slow: AnyTool = tool(
  { name: "slow", description: "Never ends.", input: {}, timeoutMs: 5, registry: false },
  async (_input, { signal }) =>
    new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason as Error))),
);

/** A function of the client. */
export const weather = {
  type: "function",
  name: "weather",
  parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
};

export const calls = (...names: string[]) => names.map((name) => ({ name, input: inputs[name] ?? {} }));

const inputs: Record<string, object> = { add: { a: 1, b: 2 }, weather: { city: "Rome" } };

/** An output in short: what each item is, and what came of it. */
export function inShort(output: readonly OutputItem[]): string[] {
  return output.map((item) => {
    if (item.type === "mcp_call") {
      const said = item.output ?? `! ${item.error?.content.map(({ text }) => text).join("") ?? ""}`;
      return `${item.name}: ${said}`;
    }
    if (item.type === "function_call") return `${item.name}(${item.arguments})`;
    if (item.type === "custom_tool_call") return `${item.name}(${item.input})`;
    if (item.type === "mcp_list_tools")
      return `${item.server_label}: ${item.error ?? item.tools.map(({ name }) => name).join(", ")}`;
    if (item.type === "mcp_approval_request") return `${item.name}(${item.arguments})?`;
    if (item.type === "message") return `message: ${item.content.map(({ text }) => text).join("")}`;
    if (item.type === "reasoning") return `reasoning: ${item.summary.map(({ text }) => text).join("")}`;
    return `${item.type}: ${JSON.stringify(item)}`;
  });
}
