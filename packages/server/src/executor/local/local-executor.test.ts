import { tool } from "rondo";
import { expect, test } from "vitest";
import type { ToolDefinition } from "../../protocol/tools.ts";
import { Executors } from "../executors.ts";

const clock = tool(
  { name: "clock", description: "Tells the time.", input: {}, registry: false },
  async () => "12:00",
);
const dice = tool({ name: "dice", description: "Rolls a die.", input: {}, registry: false }, async () => "4");
const request = { owner: "ada", responseId: "resp_1" };
const local = { type: "mcp", server_label: "local" };

test.each([
  ["always", [], ["clock", "dice"]],
  ["always", [{ ...local, allowed_tools: ["dice"] }], ["dice"]],
  ["named", [], []],
  ["named", [local], ["clock", "dice"]],
  ["named", [{ ...local, allowed_tools: ["dice"] }], ["dice"]],
] as const)(
  "tools of the config, offered %s, with %j in the request: %j",
  async (offerTools, definitions, names) => {
    const offer = await new Executors({ tools: [clock, dice], offerTools }).offer({
      ...request,
      definitions: definitions as unknown as ToolDefinition[],
    });
    expect(offer.tools.map(({ name }) => name)).toEqual(names);
  },
);
