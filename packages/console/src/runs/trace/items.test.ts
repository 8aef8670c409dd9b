import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Item } from "../../api/response.ts";
import { LiveOutput } from "../run/live-output.ts";
import { itemFor, laneFor } from "../run/selection.ts";
import type { TraceEvent } from "./events.ts";
import { inputRows, outputRows } from "./items.ts";
import { readRounds } from "./rounds.ts";

const call = (id: string, more: object = {}): Item => ({
  type: "mcp_call",
  id,
  name: "add",
  arguments: "{}",
  output: "3",
  error: null,
  ...more,
});
const text = (id: string): Item => ({
  type: "message",
  id,
  role: "assistant",
  content: [{ type: "output_text", text: id }],
});

const events: TraceEvent[] = (
  [
    {
      type: "call.checked",
      answer: 0,
      call_id: "c",
      name: "add",
      decision: "run",
      doubts: ["read from text"],
    },
    { type: "call.checked", answer: 0, call_id: "d", name: "add", decision: "run" },
    { type: "turn.started", turn_id: "t1", call_id: "c", name: "add" },
    { type: "turn.started", turn_id: "t2", call_id: "d", name: "add" },
    // The model uses an id again.
    { type: "call.checked", answer: 1, call_id: "c", name: "add", decision: "run" },
    { type: "turn.started", turn_id: "t3", call_id: "c", name: "add" },
    { type: "model.asked", answer: 2 },
  ] as Omit<TraceEvent, "n" | "at">[]
).map((event, n) => ({ ...event, n, at: n }) as TraceEvent);

const output = [
  call("old", { approval_request_id: "mcpr_1" }),
  text("a"),
  call("1"),
  call("2"),
  call("3"),
  text("b"),
];

describe("the items of a run", () => {
  const rows = outputRows(output, readRounds(events));

  test("belong to the answers that the trace tells", () => {
    expect(rows.map(({ answer, callId, doubts }) => [answer, callId, doubts])).toEqual([
      [undefined, "mcpr_1", []],
      [0, undefined, []],
      [0, "c", ["read from text"]],
      [0, "d", []],
      [1, "c", []],
      [2, undefined, []],
    ]);
    // Without a trace, words after calls begin the next answer.
    expect(outputRows(output, []).map(({ answer }) => answer)).toEqual([undefined, 0, 0, 0, 0, 1]);
  });

  test("lead to their lanes, and lanes to them, also when an id of a call is used again", () => {
    expect(rows.slice(1).map((row) => laneFor(row, events))).toEqual([
      "answer:0",
      "turn:t1",
      "turn:t2",
      "turn:t3",
      "answer:2",
    ]);
    const lanes = ["answer:0", "turn:t1", "turn:t2", "turn:t3", "answer:2", "store", "turn:x", ""];
    expect(lanes.map((lane) => itemFor(lane, rows, events))).toEqual([
      "out:a",
      "out:1",
      "out:2",
      "out:3",
      "out:b",
      undefined,
      undefined,
      undefined,
    ]);
  });

  test("of any shape have words", () => {
    const anything = fc.record(
      {
        type: fc.oneof(
          fc.constantFrom("message", "reasoning", "mcp_call", "mcp_list_tools", "x_call"),
          fc.string(),
        ),
        role: fc.constantFrom("user", 7, null),
        content: fc.anything(),
        output: fc.anything(),
        error: fc.anything(),
        tools: fc.anything(),
      },
      { requiredKeys: ["type"] },
    );
    const asJson = anything.map((item) => JSON.parse(JSON.stringify(item, jsonable)) as Item);
    fc.assert(
      fc.property(fc.array(asJson, { maxLength: 5 }), (items) => {
        for (const { title, text: words } of [...inputRows(items), ...outputRows(items, [])])
          expect([typeof title, typeof words]).toEqual(["string", "string"]);
      }),
      { numRuns: 50 },
    );
  });
});

function jsonable(_: string, value: unknown): unknown {
  return typeof value === "bigint" ? String(value) : value;
}

test("a growing output is put together from its events, and what did not change stays the same object", () => {
  const live = new LiveOutput();
  const read = (type: string, fields: object) => live.read({ type: `response.${type}`, ...fields });
  read("output_item.added", {
    sequence_number: 1,
    output_index: 0,
    item: { type: "reasoning", id: "r", summary: [] },
  });
  read("reasoning_summary_text.delta", { output_index: 0, delta: "Hm" });
  read("output_item.added", {
    output_index: 1,
    item: { type: "message", id: "m", role: "assistant", content: [] },
  });
  read("output_text.delta", { output_index: 1, delta: "Hel" });
  read("output_text.delta", { output_index: 1, delta: "lo" });
  const first = live.take();
  expect(first).toMatchObject([
    { summary: [{ text: "Hm" }] },
    { content: [{ type: "output_text", text: "Hello" }] },
  ]);
  read("output_text.delta", { output_index: 1, delta: "!" });
  read("output_text.delta", { output_index: 9, delta: "nowhere" });
  read("output_item.added", { output_index: 9, item: { type: "message" } });
  const second = live.take();
  expect(second[0]).toBe(first[0]);
  expect(second).toMatchObject([{}, { content: [{ text: "Hello!" }] }]);
  expect(second).toHaveLength(2);
  read("completed", { sequence_number: 8, response: {} });
  expect([live.isOver, live.sequence]).toEqual([true, 8]);
});
