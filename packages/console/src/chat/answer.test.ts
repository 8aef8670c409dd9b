import { describe, expect, test } from "vitest";
import type { Item, ResponseObject } from "../api/response.ts";
import { Answer } from "./answer.ts";

const response = (status: string, more: object = {}) =>
  ({ id: "resp_1", status, output: [], error: null, ...more }) as unknown as ResponseObject;

/** What is shown of each item. */
const shown = (answer: Answer) =>
  answer.items.value.map(({ item, text, isDone }) => [item.value.type, text.value, isDone.value]);

function applied(...events: object[]): Answer {
  const answer = new Answer();
  for (const [index, event] of events.entries()) answer.apply({ type: "", sequence_number: index, ...event });
  return answer;
}

const added = (index: number, item: Item) => ({
  type: "response.output_item.added",
  output_index: index,
  item,
});
const delta = (type: string, index: number, text: string) => ({ type, output_index: index, delta: text });

describe("an answer", () => {
  test("grows with its events, item by item", () => {
    const answer = applied(
      { type: "response.created", response: response("in_progress") },
      added(0, { type: "reasoning", summary: [] }),
      delta("response.reasoning_summary_text.delta", 0, "Hm"),
      delta("response.reasoning_text.delta", 0, "Hm"), // the same in another form
      delta("response.reasoning_summary_text.delta", 0, "m."),
      added(1, { type: "mcp_call", name: "add", arguments: "" }),
      delta("response.mcp_call_arguments.delta", 1, "{}"),
      added(2, { type: "message", content: [] }),
      delta("response.output_text.delta", 2, "4"),
    );
    expect(shown(answer)).toEqual([
      ["reasoning", "Hmm.", false],
      ["mcp_call", "{}", false],
      ["message", "4", false],
    ]);
    expect([answer.isOver.value, answer.sequence]).toEqual([false, 8]);
    const item = { type: "message", content: [{ type: "output_text", text: "42" }] };
    answer.apply({ type: "response.output_item.done", output_index: 2, item });
    answer.apply({ type: "response.completed", response: response("completed") });
    expect(shown(answer).at(-1)).toEqual(["message", "42", true]);
    expect([answer.isOver.value, answer.problem.value]).toEqual([true, undefined]);
  });

  test("keeps what was said when it fails or is stopped", () => {
    const said = [added(0, { type: "message", content: [] }), delta("response.output_text.delta", 0, "Once")];
    const failed = applied(...said, { type: "error", code: "model_server", message: "On fire." });
    expect(failed.problem.value).toEqual({ code: "model_server", message: "On fire." });
    expect(shown(failed)).toEqual([["message", "Once", false]]);
    const stopped = applied(...said, { type: "response.incomplete", response: response("cancelled") });
    expect([stopped.isOver.value, shown(stopped)]).toEqual([true, [["message", "Once", true]]]);
  });

  test("takes events that it does not know, or that are not what they should be", () => {
    const answer = applied(
      { type: "response.acme.thing.done", output_index: 0 },
      { type: "response.output_item.added", output_index: "x", item: null },
      delta("response.output_text.delta", 7, "nowhere"),
      { type: "error", code: 5 },
    );
    expect(shown(answer)).toEqual([]);
    expect(answer.problem.value).toEqual({ code: "error", message: "The run failed." });
  });

  test("shows what is stored", () => {
    const answer = new Answer();
    const output = [{ type: "code_interpreter_call", code: "1 + 1" }];
    answer.show(response("failed", { output, error: { code: "c", message: "m" } }));
    expect(shown(answer)).toEqual([["code_interpreter_call", "1 + 1", true]]);
    expect(answer.problem.value).toMatchObject({ message: "m" });
  });
});
