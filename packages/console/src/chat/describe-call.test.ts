import { describe, expect, test } from "vitest";
import { describeCall } from "./describe-call.ts";

describe("a call", () => {
  test("of an MCP server has its name, its server, its arguments and its result", () => {
    const item = { type: "mcp_call", name: "look", server_label: "notes", output: "Seen.", error: null };
    expect(describeCall(item, '{"n":1}')).toMatchObject({
      title: "look",
      server: "notes",
      input: '{\n  "n": 1\n}',
      output: "Seen.",
      error: undefined,
      isOpen: false,
    });
    const error = { type: "mcp_tool_execution_error", content: [{ type: "text", text: "No." }, 5, null] };
    expect(describeCall({ ...item, output: null, error }, "{")).toMatchObject({ input: "{", error: "No." });
  });

  test("of code has the code and what it printed", () => {
    const item = {
      type: "code_interpreter_call",
      status: "completed",
      outputs: [{ type: "logs", logs: "2" }],
    };
    expect(describeCall(item, "print(2)")).toMatchObject({
      inputLabel: "Code",
      input: "print(2)",
      output: "2",
    });
    expect(describeCall({ ...item, status: "failed", output: "Oops" }, "x")).toMatchObject({ error: "Oops" });
  });

  test("of a client is open, and one of an unknown kind is shown as it is", () => {
    expect(describeCall({ type: "function_call", name: "f" }, "{}")).toMatchObject({ isOpen: true });
    const web = describeCall({ type: "web_search_call", action: { query: "q" } }, "");
    expect(web).toMatchObject({ title: "web search", inputLabel: "Item" });
    expect(web.input).toContain('"query": "q"');
  });
});
