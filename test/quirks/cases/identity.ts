// Which chunks belong to which call, and its id.

import { add, addArguments, added, calls, chunk, more, type QuirkCase } from "../quirk-case.ts";

const first = '{"a": 1, ';
const second = '"b": 2}';
const other = '{"a": 3, "b": 4}';
const both = [...added, ["add", { a: 3, b: 4 }]] as const;

const one: Readonly<Record<string, readonly (readonly unknown[])[]>> = {
  "id missing": [[add(first, { index: 0 })], [more(second, { index: 0 })]],
  "id empty": [[add(first, { index: 0, id: "" })], [more(second, { index: 0, id: "" })]],
  "id a number": [[add(addArguments, { index: 0, id: 7 })]],
  "id null in later chunks": [[add(first, { index: 0, id: "a" })], [more(second, { index: 0, id: null })]],
  "id late": [[add(first, { index: 0 })], [more(second, { index: 0, id: "late" })]],
  "a new id in every piece": [[add(first, { index: 0, id: "a" })], [more(second, { index: 0, id: "b" })]],
  "index missing": [[add(first, { id: "a" })], [more(second, { id: "a" })]],
  "index and id missing": [[add(first)], [more(second)]],
  "name repeated in a later piece": [
    [add(first, { index: 0, id: "a" })],
    [add(second, { index: 0, id: "a" })],
  ],
  "name repeated at the end": [[add(addArguments, { index: 0, id: "a" })], [add("", { index: 0, id: "a" })]],
  "name in fragments": [
    [{ index: 0, id: "a", function: { name: "a" } }],
    [{ index: 0, function: { name: "dd" } }],
    [more(addArguments, { index: 0 })],
  ],
  "type and name missing in later chunks": [
    [add("", { index: 0, id: "a" })],
    [more(first, { index: 0 })],
    [more(second, { index: 0 })],
  ],
};

const two: Readonly<Record<string, readonly (readonly unknown[])[]>> = {
  "the same id for two calls": [
    [add(addArguments, { index: 0, id: "a" })],
    [add(other, { index: 1, id: "a" })],
  ],
  "two calls without ids": [[add(addArguments, { index: 0 })], [add(other, { index: 1 })]],
  "two calls on one index": [[add(addArguments, { index: 0, id: "a" })], [add(other, { index: 0, id: "b" })]],
  "two calls on one index without ids": [[add(addArguments, { index: 0 })], [add(other, { index: 0 })]],
  "two calls without index": [[add(addArguments, { id: "a" })], [add(other, { id: "b" })]],
  "two calls without index and id, in one chunk": [[add(addArguments), add(other)]],
  "two interleaved calls": [
    [add(first, { index: 0, id: "a" }), add('{"a": 3, ', { index: 1, id: "b" })],
    [more(second, { index: 0 }), more('"b": 4}', { index: 1 })],
  ],
};

export const identity: readonly QuirkCase[] = [
  ...Object.entries(one).map(([name, lists]) => ({
    name,
    answers: [calls(...lists)],
    expect: { ran: added },
  })),
  ...Object.entries(two).map(([name, lists]) => ({
    name,
    answers: [calls(...lists)],
    expect: { ran: both },
  })),
  {
    name: "the legacy function_call",
    answers: [
      {
        chunks: [
          chunk({ function_call: { name: "add", arguments: first } }),
          chunk({ function_call: { arguments: second } }),
          chunk({}, "function_call"),
        ],
      },
    ],
    expect: { ran: added },
  },
];
