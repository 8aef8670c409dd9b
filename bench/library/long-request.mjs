// A request as agents send it after a while: 20 tools, and a conversation of 39 messages before the prompt.

const note = "The build of the second module failed, because a type is missing in its third file. ";

/** The tools besides `add`, in the format of the API. */
export const moreTools = Array.from({ length: 19 }, (_, index) => ({
  type: "function",
  function: {
    name: `tool_${index}`,
    description: `Reads or changes part ${index} of the project. ${note.repeat(1 + (index % 3))}`,
    parameters: {
      type: "object",
      properties: {
        path: { type: "string", description: "Where, from the root of the project." },
        lines: { type: "array", items: { type: "integer", minimum: 1 } },
        options: {
          type: "object",
          properties: { isDeep: { type: "boolean" }, kind: { type: "string", enum: ["file", "folder"] } },
          additionalProperties: false,
        },
      },
      required: ["path"],
    },
  },
}));

/** 13 rounds of a prompt, an answer with a call, and its result; short and long ones. */
export const history = Array.from({ length: 13 }, (_, round) => {
  const id = `call_of_round_${round}`;
  const input = { path: `src/module-${round}/index.ts`, lines: [round + 1, round + 9] };
  return [
    { role: "user", content: `${round}. ${note.repeat(round % 4)}` },
    {
      role: "assistant",
      content: note.repeat(round % 2),
      tool_calls: [
        {
          id,
          type: "function",
          function: { name: `tool_${round}`, arguments: JSON.stringify(input) },
        },
      ],
    },
    { role: "tool", tool_call_id: id, name: `tool_${round}`, content: note.repeat(1 + (round % 7)) },
  ];
}).flat();
