import { describe, expect, test } from "vitest";
import { read, refusal } from "./testkit/requests.ts";

const item = (given: object) => read({ input: [given] }).input[0];

describe("an item", () => {
  test("without a type is a message, or a reference if it has only an id", () => {
    expect(item({ role: "developer", content: "Hi" })).toEqual({
      type: "message",
      role: "developer",
      content: "Hi",
    });
    expect(item({ type: null, role: "user", content: "Hi" })).toMatchObject({ type: "message" });
    expect(item({ id: "msg_1" })).toEqual({ type: "item_reference", id: "msg_1" });
    expect(item({ type: null, id: "msg_1" })).toEqual({ type: "item_reference", id: "msg_1" });
    expect(item({ type: "item_reference", id: "msg_1" })).toEqual({ type: "item_reference", id: "msg_1" });
  });

  test.each([
    { type: "message", role: "assistant", content: "Hi", phase: "final_answer" },
    {
      type: "message",
      role: "user",
      content: [
        { type: "input_text", text: "a" },
        { type: "input_image", image_url: "data:image/png;base64,AA==", detail: "low" },
        { type: "input_image", image_url: { url: "https://example.org/a.png" } },
        { type: "input_image", file_id: "file_1" },
        { type: "input_file", filename: "a.txt", file_data: "data:text/plain;base64,AA==" },
        { type: "input_hologram", depth: 3 },
      ],
    },
    {
      type: "message",
      id: "msg_1",
      role: "assistant",
      status: "completed",
      content: [
        { type: "output_text", text: "a", annotations: [], logprobs: [] },
        { type: "refusal", refusal: "No." },
      ],
    },
    { type: "function_call", call_id: "c", name: "f", arguments: "{}" },
    { type: "function_call_output", call_id: "c", output: "42" },
    { type: "function_call_output", call_id: "c", output: [{ type: "input_text", text: "42" }] },
    { type: "custom_tool_call", call_id: "c", name: "f", input: "x" },
    { type: "custom_tool_call_output", call_id: "c", output: "42" },
    { type: "reasoning", id: "rs_1", summary: [], content: [{ type: "reasoning_text", text: "Hm." }] },
    { type: "reasoning", summary: [{ type: "summary_text", text: "Hm." }], encrypted_content: "x" },
    {
      type: "mcp_call",
      id: "mcp_1",
      server_label: "local",
      name: "f",
      arguments: "{}",
      output: "42",
      error: null,
      approval_request_id: null,
      status: "completed",
    },
    { type: "additional_tools", role: "developer", tools: [] },
    { type: "web_search_call", id: "ws_1", action: { type: "search" } },
  ])("is kept as it came: %j", (given) => {
    expect(item(given)).toEqual(given);
  });

  test("keeps unknown fields, also those with strange names", () => {
    const given = JSON.parse(
      '{"type": "message", "role": "user", "content": "Hi", "__proto__": {"a": 1}, "x": 1}',
    );
    expect(JSON.stringify(item(given))).toBe(JSON.stringify(given));
  });

  test("has no id if that is null", () => {
    expect(item({ type: "function_call_output", id: null, call_id: "c", output: "" })).not.toHaveProperty(
      "id",
    );
  });
});

describe("an item is refused", () => {
  test.each([
    [5, "input[1]", "input[1]: expected an object, got 5."],
    [
      {},
      "input[1].role",
      'input[1].role: expected one of "user", "assistant", "system", "developer", got nothing.',
    ],
    [{ type: 5 }, "input[1].type", "input[1].type: expected a string, got 5."],
    [
      { id: "msg_1", role: "tool" },
      "input[1].role",
      'input[1].role: expected one of "user", "assistant", "system", "developer", got "tool".',
    ],
    [{ role: "user" }, "input[1].content", "input[1].content: expected a string or a list, got nothing."],
    [
      { role: "user", content: 5 },
      "input[1].content",
      "input[1].content: expected a string or a list, got 5.",
    ],
    [
      { role: "user", content: ["a"] },
      "input[1].content[0]",
      'input[1].content[0]: expected an object, got "a".',
    ],
    [
      { role: "user", content: [{ type: "input_text", text: 5 }] },
      "input[1].content[0].text",
      "input[1].content[0].text: expected a string, got 5.",
    ],
    [
      { role: "user", content: [{ text: "a" }] },
      "input[1].content[0].type",
      "input[1].content[0].type: expected a string, got nothing.",
    ],
    [
      { role: "user", content: [{ type: "input_image" }] },
      "input[1].content[0].image_url",
      "input[1].content[0].image_url: expected a URL, or a data URL, got nothing.",
    ],
    [
      { role: "user", content: [{ type: "input_image", image_url: { url: 5 } }] },
      "input[1].content[0].image_url.url",
      "input[1].content[0].image_url.url: expected a string, got 5.",
    ],
    [
      { type: "function_call", call_id: "c", name: "f", arguments: {} },
      "input[1].arguments",
      "input[1].arguments: expected a string, got an object.",
    ],
    [
      { type: "function_call_output", output: "42" },
      "input[1].call_id",
      "input[1].call_id: expected a string, got nothing.",
    ],
    [
      { type: "function_call_output", call_id: "c", output: { a: 1 } },
      "input[1].output",
      "input[1].output: expected a string or a list, got an object.",
    ],
    [{ type: "item_reference" }, "input[1].id", "input[1].id: expected a string, got nothing."],
    [
      { type: "reasoning", content: [{ type: "reasoning_text" }] },
      "input[1].content[0].text",
      "input[1].content[0].text: expected a string, got nothing.",
    ],
    [{ type: "agent_message", id: 5 }, "input[1].id", "input[1].id: expected a string, got 5."],
  ])("%j", (given, param, message) => {
    expect(refusal({ input: [{ role: "user", content: "Hi" }, given] })).toEqual([param, message]);
  });
});

describe("an item that brings tools", () => {
  test.each(["additional_tools", "tool_search_output"])(
    "of the type %s is refused with wrong ones",
    (type) => {
      const path = (tool: unknown) => refusal({ input: [{ type, tools: [tool] }] })[0];
      expect(path(null)).toBe("input[0].tools[0]");
      expect(path("look")).toBe("input[0].tools[0]");
      expect(path({ type: "mcp", server_label: 5 })).toBe("input[0].tools[0].server_label");
      const namespace = (tools: unknown) => ({ type: "namespace", name: "inner", tools });
      expect(path(namespace(5))).toBe("input[0].tools[0].tools");
      expect(path(namespace([null]))).toBe("input[0].tools[0].tools[0]");
      expect(path(namespace([{ type: "mcp", server_label: 5 }]))).toBe(
        "input[0].tools[0].tools[0].server_label",
      );
    },
  );
});
