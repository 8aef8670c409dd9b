import { describe, expect, test } from "vitest";
import { deviations } from "./testkit/deviations.ts";
import { flawsOf, publicDefinitions, schemaChecker } from "./testkit/public-schema.ts";
import { message, responseOf, usage } from "./testkit/samples.ts";

describe("the public schema", () => {
  test("is made of the types that the openai package declares", () => {
    expect(publicDefinitions["ResponseTextDeltaEvent"]?.required).toContain("item_id");
    expect(publicDefinitions["ResponseStreamEvent"]?.properties?.["type"]?.enum).toContain(
      "response.mcp_call.failed",
    );
  });

  test("takes a whole response", () => {
    expect(flawsOf("Response", responseOf())).toEqual([]);
    expect(flawsOf("Response", responseOf({ usage: null, status: "in_progress", output: [] }))).toEqual([]);
  });

  test.each([
    ["an unknown key", { surprise: 1 }, '"surprise"'],
    ["a wrong type", { id: 1 }, "#/id"],
    ["a status of nobody", { status: "pondering" }, "#/status"],
    ["an unknown item", { output: [{ type: "thought", id: "x" }] }, "#/output/0/type"],
    ["an item with an unknown key", { output: [message("a", { mood: "good" })] }, '"mood"'],
    ["an item without its text", { output: [message("a", { content: undefined })] }, '"content"'],
    ["an error code of nobody", { error: { code: "oops", message: "m" } }, "#/error/code"],
    [
      "usage without its details",
      { usage: { ...usage, output_tokens_details: undefined } },
      "output_tokens_details",
    ],
  ])("refuses %s, and says where", (_what, change, place) => {
    // As it goes over the wire: undefined is left out.
    const response = JSON.parse(JSON.stringify(responseOf(change)));
    expect(flawsOf("Response", response).join("\n")).toContain(place);
  });

  test("refuses unknown events, and unknown keys in known ones", () => {
    const delta = {
      type: "response.output_text.delta",
      item_id: "msg_1",
      output_index: 0,
      content_index: 0,
      delta: "a",
      logprobs: [],
      sequence_number: 3,
    };
    expect(flawsOf("ResponseStreamEvent", delta)).toEqual([]);
    expect(flawsOf("ResponseStreamEvent", { ...delta, more: 1 }).join()).toContain('"more"');
    const { item_id: _left, ...nameless } = delta;
    expect(flawsOf("ResponseStreamEvent", nameless).join()).toContain("item_id");
    expect(flawsOf("ResponseStreamEvent", { ...delta, type: "response.requires_action" }).join()).toContain(
      "#/type",
    );
  });
});

describe("each deviation", () => {
  const event = { sequence_number: 0 };
  const emptyPage = { object: "list", data: [], first_id: null, last_id: null, has_more: false };
  const error = { type: "server_error", code: "server_error", message: "m", param: null };
  const samples: Record<string, [Parameters<typeof flawsOf>[0], unknown]> = {
    "Response.status": ["Response", responseOf({ status: "requires_action" })],
    "Response.IncompleteDetails.reason": [
      "Response",
      responseOf({ status: "incomplete", incomplete_details: { reason: "max_agentic_turns" } }),
    ],
    "ResponseError.code": [
      "Response",
      responseOf({ status: "failed", error: { ...error, code: "model_server" } }),
    ],
    "ResponseCodeInterpreterToolCall.output": [
      "Response",
      responseOf({
        output: [
          {
            type: "code_interpreter_call",
            id: "ci_1",
            code: "1",
            container_id: "cntr_1",
            outputs: null,
            output: "1",
            status: "completed",
          },
        ],
      }),
    ],
    keepalive: ["ResponseStreamEvent", { type: "keepalive", ...event }],
    "ResponseErrorEvent.error": [
      "ResponseStreamEvent",
      { type: "error", code: "server_error", message: "m", param: null, error, ...event },
    ],
    ...Object.fromEntries(
      ["added", "delta", "done"].map((step) => [
        `ResponseShellCallCommand${step.replace(/^./, (first) => first.toUpperCase())}Event.item_id`,
        [
          "ResponseStreamEvent",
          {
            type: `response.shell_call_command.${step}`,
            item_id: "sh_1",
            output_index: 0,
            command_index: 0,
            ...(step === "delta" ? { delta: "ls" } : { command: "ls" }),
            ...event,
          },
        ] as [Parameters<typeof flawsOf>[0], unknown],
      ]),
    ),
    "ResponseFunctionCallArgumentsDoneEvent.name": [
      "ResponseStreamEvent",
      {
        type: "response.function_call_arguments.done",
        item_id: "fc_1",
        output_index: 0,
        name: "add",
        arguments: "{}",
        ...event,
      },
    ],
    "ConversationItemList.first_id": ["ConversationItemList", emptyPage],
    "ConversationItemList.last_id": ["ConversationItemList", emptyPage],
    "Response.usage": ["Response", responseOf({ usage: null })],
    "Response.warnings": ["Response", responseOf({ warnings: [{ code: "shape_in_words", message: "m" }] })],
    "ResponseUsage.estimated": ["Response", responseOf({ usage: { ...usage, estimated: true } })],
    "ResponseUsage.InputTokensDetails.cut_tokens": [
      "Response",
      responseOf({
        usage: { ...usage, input_tokens_details: { ...usage.input_tokens_details, cut_tokens: 9 } },
      }),
    ],
  };

  test.each(deviations.map((deviation) => [deviation.text, deviation] as const))("%s", (_text, deviation) => {
    const name = deviation.kind === "event" ? deviation.type : `${deviation.in}.${deviation.key}`;
    const [type, sample] = samples[name] ?? ["Response", responseOf()];
    expect(flawsOf(type, sample)).toEqual([]);
    // Without it the public schema refuses the same: a deviation that is not needed any more has to go.
    expect(schemaChecker(deviations.filter((other) => other !== deviation))(type, sample)).not.toEqual([]);
  });
});
