import { describe, expect, test } from "vitest";
import type { InputItem } from "../protocol/items.ts";
import { toTools } from "../protocol/tools.ts";
import { readableEntries } from "./client-items.ts";
import { toMessages } from "./conversation.ts";

const tools = toTools([
  { type: "function", name: "read" },
  {
    type: "namespace",
    name: "files",
    tools: [
      { type: "function", name: "read" },
      { type: "function", name: "list" },
      { type: "custom", name: "patch" },
    ],
  },
]);

function read(items: readonly InputItem[]) {
  return readableEntries(
    items.map((item) => ({ item })),
    tools,
  );
}

const call = (name: string, namespace?: string): InputItem => ({
  type: "function_call",
  call_id: "c",
  name,
  arguments: "{}",
  ...(namespace !== undefined && { namespace }),
});

describe("items of clients", () => {
  test.each([
    ["a function of its own", call("read"), "read"],
    ["one of a namespace whose name is taken", call("read", "files"), "files__read"],
    ["one of a namespace whose name is not", call("list", "files"), "list"],
    ["a custom tool", { ...call("patch", "files"), type: "custom_tool_call", input: "x" }, "patch"],
    ["one that the model has no more", call("gone", "other"), "other__gone"],
  ])("are calls under the model's name for the tool: %s", (_name, item, expected) => {
    expect(read([item])[0]?.item).toMatchObject({ type: item.type, name: expected });
  });

  test("are left as they are where there is nothing to change", () => {
    const entry = { item: { type: "message", role: "user", content: "Hi" }, group: "g" };
    expect(readableEntries([entry], tools)[0]).toBe(entry);
  });

  test("of another server's calls are calls of functions, if they have an output", () => {
    const items: InputItem[] = [
      {
        type: "local_shell_call",
        id: "lsh_1",
        call_id: "a",
        status: "completed",
        action: { command: ["ls"] },
      },
      { type: "function_call_output", call_id: "a", output: "README" },
      { type: "shell_call", call_id: "b", action: { commands: ["pwd"] } },
      { type: "shell_call_output", call_id: "b", output: [{ type: "input_text", text: "/tmp" }] },
      { type: "shell_call", call_id: "unanswered", action: {} },
      { type: "shell_call_output", call_id: "unasked", output: "x" },
    ];
    const ignored: string[] = [];
    const messages = toMessages(read(items), { onIgnored: (what) => ignored.push(what) });
    expect(messages).toMatchObject([
      {
        role: "assistant",
        tool_calls: [{ id: "a", function: { name: "local_shell", arguments: '{"command":["ls"]}' } }],
      },
      { role: "tool", tool_call_id: "a", content: "README" },
      { role: "assistant", tool_calls: [{ id: "b", function: { name: "shell" } }] },
      { role: "tool", tool_call_id: "b", content: "/tmp" },
    ]);
    expect(ignored).toEqual(["an item of the type 'shell_call'", "an item of the type 'shell_call_output'"]);
  });

  test("of other agents are messages, without what only they can read", () => {
    const items: InputItem[] = [
      {
        type: "agent_message",
        author: "/root/worker",
        content: [
          { type: "input_text", text: "Done." },
          { type: "encrypted_content", encrypted_content: "xyz" },
        ],
      },
    ];
    expect(toMessages(read(items))).toEqual([{ role: "user", content: "Done." }]);
  });

  test("that bring tools say nothing", () => {
    const ignored: string[] = [];
    const items = [{ type: "additional_tools", tools: [] }];
    expect(toMessages(read(items), { onIgnored: (what) => ignored.push(what) })).toEqual([]);
    expect(ignored).toEqual([]);
  });
});
