// Bodies that are as large, as many or as deep as they can be made: what a parser, a recursion or a spread breaks on.

const many = <T>(count: number, value: T): T[] => Array<T>(count).fill(value);
const numbered = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, n) => [`x${n}`, "y"]));
const lists = (depth: number) => "[".repeat(depth) + "]".repeat(depth);
const objects = (depth: number) => `${'{"items":'.repeat(depth)}{}${"}".repeat(depth)}`;
const user = { role: "user", content: "Hi." };

const large: Readonly<Record<string, string>> = {
  "a number without an end": '{"input":"Hi.","temperature":1e999}',
  "a number of many digits": `{"input":"Hi.","max_output_tokens":${"9".repeat(100_000)}}`,
  "a long text": JSON.stringify({ input: "x".repeat(500_000) }),
  "a text that is too long": JSON.stringify({ input: "x".repeat(10_000_000) }),
  "a long name": JSON.stringify({ input: "Hi.", ["x".repeat(1_000_000)]: 1 }),
  "many names": JSON.stringify({ input: "Hi.", ...numbered(50_000) }),
  "many items": JSON.stringify({ input: many(100_000, user) }),
  "many parts": JSON.stringify({
    input: [{ role: "user", content: many(100_000, { type: "input_text", text: "a" }) }],
  }),
  "many tools": JSON.stringify({ input: "Hi.", tools: many(100_000, { type: "function", name: "f" }) }),
  "much metadata": JSON.stringify({ input: "Hi.", metadata: numbered(50_000) }),
  "much to include": JSON.stringify({ input: "Hi.", include: many(100_000, "x") }),
};

function nested(depth: number): Record<string, string> {
  const call = `"type":"mcp_call","server_label":"a","name":"b","arguments":"{}"`;
  return {
    lists: lists(depth),
    "half a list": "[".repeat(depth),
    "an unknown field": `{"input":"Hi.","x":${lists(depth)}}`,
    "an unknown item": `{"input":[{"type":"x","y":${lists(depth)}},${JSON.stringify(user)}]}`,
    "the error of a call": `{"input":[{${call},"error":${objects(depth)}},${JSON.stringify(user)}]}`,
    "the parameters of a tool": `{"input":"Hi.","tools":[{"type":"function","name":"f","parameters":${objects(depth)}}]}`,
    "a tool of another kind": `{"input":"Hi.","tools":[{"type":"web_search","a":${lists(depth)}}]}`,
    "the format of the answer": `{"input":"Hi.","text":{"format":{"type":"json_schema","name":"a","schema":${objects(depth)}}}}`,
    metadata: `{"input":"Hi.","metadata":${objects(depth)}}`,
  };
}

/** Bodies by what they have too much of. */
export const hugeBodies: readonly (readonly [name: string, body: string])[] = [
  ...Object.entries(large),
  ...[500, 50_000].flatMap((depth) =>
    Object.entries(nested(depth)).map(([name, body]) => [`${name}, ${depth} deep`, body] as const),
  ),
];
