// What the measurements send.

export const addTool = {
  type: "function",
  name: "add",
  description: "Adds two numbers.",
  parameters: {
    type: "object",
    properties: { a: { type: "number" }, b: { type: "number" } },
    required: ["a", "b"],
  },
};

/** The tools of the server's config. */
export const serverTools = { type: "mcp", server_label: "local", require_approval: "never" };

function assistantMessage(text: string) {
  return { type: "message", role: "assistant", content: [{ type: "output_text", text }] };
}

/** As a coding agent sends them: 40 items, and 20 tools. */
export const longRequest = {
  instructions: "You are a careful assistant. Answer briefly, and use your tools where they help. ".repeat(5),
  input: [
    ...Array.from({ length: 39 }, (_, index) =>
      index % 2 === 0
        ? { role: "user", content: "Tell me more about that, please. ".repeat(3 + (index % 7)) }
        : assistantMessage(" word".repeat(20 + index)),
    ),
    { role: "user", content: "stream 16" },
  ],
  tools: Array.from({ length: 20 }, (_, index) => ({
    ...addTool,
    name: `tool_${index}`,
    description: `Does the thing number ${index}. `.repeat(5),
  })),
};
