// Arguments that are malformed or incomplete.

import { add, addArguments, added, calls, chunk, type QuirkCase } from "../quirk-case.ts";

const sloppy: Readonly<Record<string, unknown>> = {
  "an object instead of a string": { a: 1, b: 2 },
  "single quotes": "{'a': 1, 'b': 2}",
  "trailing commas": '{"a": 1, "b": 2,}',
  "names without quotes": "{a: 1, b: 2}",
  "fenced in Markdown": '```json\n{"a": 1, "b": 2}\n```',
  "double-encoded": JSON.stringify(addArguments),
  "numbers as strings": '{"a": "1", "b": "2"}',
  "text before the JSON": `Here are the arguments: ${addArguments}`,
  "text after the JSON": `${addArguments} as you asked`,
};

export const argumentCases: readonly QuirkCase[] = [
  ...Object.entries(sloppy).map(([name, args]) => ({
    name,
    answers: [calls([add(args, { index: 0, id: "a" })])],
    expect: { ran: added },
  })),
  {
    name: "empty, for a tool without parameters",
    answers: [calls([{ index: 0, id: "a", function: { name: "ping", arguments: "" } }])],
    expect: { ran: [["ping", {}]] },
  },
  {
    name: "absent, for a tool without parameters",
    answers: [calls([{ index: 0, id: "a", function: { name: "ping" } }])],
    expect: { ran: [["ping", {}]] },
  },
  {
    name: "of the wrong type",
    answers: [calls([add('{"a": "one", "b": 2}', { index: 0, id: "a" })])],
    expect: { told: ["expected number"] },
  },
  {
    name: "not JSON at all",
    answers: [calls([add("one and two", { index: 0, id: "a" })])],
    expect: { told: ["one and two"] },
  },
  {
    name: "empty, for a tool that needs some",
    answers: [calls([add("", { index: 0, id: "a" })])],
    expect: { told: ["expected number"] },
  },
];

const cut = add('{"a": 1, "b": 2', { index: 0, id: "a" });

export const truncated: readonly QuirkCase[] = [
  { name: "a brace is missing", answers: [calls([cut])], expect: { told: ['{"a": 1, "b": 2'] } },
  {
    name: "cut by the length limit",
    answers: [{ chunks: [chunk({ tool_calls: [cut] }), chunk({}, "length")] }],
    expect: { told: ["cut off"] },
  },
  {
    name: "cut by the length limit, after complete calls",
    answers: [
      {
        chunks: [
          chunk({ tool_calls: [add(addArguments, { index: 0, id: "a" })] }),
          chunk({ tool_calls: [add('{"a": 3, ', { index: 1, id: "b" })] }),
          chunk({}, "length"),
        ],
      },
    ],
    expect: { ran: added, told: ["cut off"] },
  },
  {
    name: "the stream just ends",
    answers: [{ chunks: [chunk({ tool_calls: [cut] })], done: false }],
    expect: { told: ["cut off"] },
  },
  {
    name: "cut inside a call in text",
    answers: [
      {
        chunks: [chunk({ content: '<tool_call>{"name": "add", "arguments": {"a": 1' }), chunk({}, "length")],
      },
    ],
    expect: { told: ["cut off"] },
  },
];

const named = (name: string) => calls([{ index: 0, id: "a", function: { name, arguments: addArguments } }]);

export const unknownTool: readonly QuirkCase[] = [
  { name: "a name that is not in the list", answers: [named("subtract")], expect: { told: ["add, ping"] } },
  {
    name: "no name at all",
    answers: [calls([{ index: 0, id: "a", function: { arguments: addArguments } }])],
    expect: { told: ["add, ping"] },
  },
  { name: "wrong case", answers: [named("Add")], expect: { ran: added } },
  { name: "a namespace with a dot", answers: [named("functions.add")], expect: { ran: added } },
  { name: "a namespace with a colon", answers: [named("default_api:add")], expect: { ran: added } },
  { name: "a namespace with a slash", answers: [named("tools/add")], expect: { ran: added } },
];
