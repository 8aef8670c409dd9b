import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Client } from "../../client/client.ts";
import { ChatAnswer } from "../chat-answer.ts";
import type { ModelDelta } from "../provider.ts";
import { ResponseReader } from "./response-reader.ts";
import { responsesModel } from "./responses-model.ts";
import { answers } from "./testkit/ask-model.ts";
import { call, framed, message, startResponsesServer, stream } from "./testkit/responses-server.ts";

const usage = { inputTokens: 5, outputTokens: 7, totalTokens: 12 };

describe("a stream", () => {
  test("becomes text, thinking, calls, and a reason with the usage", async () => {
    const at = { item_id: "rs_0", output_index: 0 };
    const { deltas } = await answers(
      stream([
        { type: "response.reasoning_summary_text.delta", ...at, summary_index: 0, delta: "First." },
        { type: "response.reasoning_summary_text.delta", ...at, summary_index: 1, delta: "Second." },
        { type: "response.reasoning_text.delta", ...at, content_index: 0, delta: "Hm." },
        ...message(["Let me ", "see."], 1),
        ...call("add", ['{"a":1,', '"b":2}'], 2),
        { type: "keepalive" },
        ...call("now", [], 3),
      ]),
    );
    expect(deltas).toEqual([
      { type: "thinking.delta", text: "First.\n\nSecond." },
      { type: "text.delta", text: "Let me see." },
      { type: "call.started", id: "call_2", name: "add" },
      { type: "call.delta", id: "call_2", text: '{"a":1,' },
      { type: "call.delta", id: "call_2", text: '"b":2}' },
      { type: "call.ended", id: "call_2", name: "add", arguments: '{"a":1,"b":2}', isTruncated: false },
      { type: "call.started", id: "call_3", name: "now" },
      { type: "call.ended", id: "call_3", name: "now", arguments: "", isTruncated: false },
      { type: "finished", finishReason: "tool_calls", usage },
    ]);
  });

  test("of whole items, or an answer that came all at once, gives the same", async () => {
    const output = [
      { type: "reasoning", summary: [{ type: "summary_text", text: "Hm." }], content: null },
      { type: "message", role: "assistant", content: [{ type: "output_text", text: "So." }] },
      { type: "message", role: "assistant", content: [{ type: "refusal", refusal: "No." }] },
      { type: "function_call", call_id: "c", name: "add", arguments: "{}" },
    ];
    const items = output.map((item, output_index) => ({
      type: "response.output_item.done",
      output_index,
      item,
    }));
    const expected = [
      { type: "thinking.delta", text: "Hm." },
      { type: "text.delta", text: "So.\n\nNo." },
      { type: "call.started", id: "c", name: "add" },
      { type: "call.delta", id: "c", text: "{}" },
      { type: "call.ended", id: "c", name: "add", arguments: "{}", isTruncated: false },
      { type: "finished", finishReason: "tool_calls", usage: undefined },
    ];
    expect((await answers(stream(items, { usage: null }))).deltas).toEqual(expected);
    const whole = JSON.stringify({ object: "response", status: "completed", output, error: null });
    expect((await answers(whole)).deltas).toEqual(expected);
  });

  test.each([
    ["max_output_tokens", "length"],
    ["content_filter", "content_filter"],
    ["max_agentic_turns", "unknown"],
  ])("that ends with %s ends with '%s'", async (reason, expected) => {
    const ending = { status: "incomplete", incomplete_details: { reason } };
    const { deltas } = await answers(stream(message(["Half"]), ending, "response.incomplete"));
    expect(deltas.at(-1)).toMatchObject({ type: "finished", finishReason: expected });
  });

  test("that the length limit ends in a call says that the call is truncated", async () => {
    const [added, first] = call("add", ['{"a":', "1}"]);
    const ending = { status: "incomplete", incomplete_details: { reason: "max_output_tokens" } };
    const { deltas } = await answers(stream([added ?? {}, first ?? {}], ending, "response.incomplete"));
    expect(deltas).toContainEqual(expect.objectContaining({ type: "call.ended", isTruncated: true }));
  });

  test("passes on what the server does itself, and never as a call of the client's", async () => {
    const item = { type: "mcp_call", id: "mcp_0", name: "clock", arguments: "{}" };
    const events = [
      { type: "response.output_item.added", output_index: 0, item },
      { type: "response.mcp_call_arguments.done", output_index: 0, item_id: "mcp_0", arguments: "{}" },
      { type: "response.output_item.done", output_index: 0, item: { ...item, output: "12:00" } },
    ];
    const { deltas } = await answers(stream([...events, ...message(["Noon."], 1)]));
    expect(deltas.map(({ type }) => type)).toEqual([
      ...events.map(() => "server.event"),
      "text.delta",
      "finished",
    ]);
    expect(deltas[2]).toEqual({ type: "server.event", event: events[2] });
    const { url } = await startResponsesServer([stream([...events, ...message(["Noon."], 1)])]);
    const client = new Client({ model: responsesModel(url) });
    await client.query("What time is it?");
    const blocks = await Array.fromAsync(client.receiveMessages());
    expect(blocks.map(({ type }) => type)).toEqual([...events.map(() => "server_event"), "text"]);
  });

  test("gives the same deltas however its bytes are split", () => {
    const bytes = new TextEncoder().encode(
      framed(stream([...message(["Größe ", "🎉\n", "42"]), ...call("add", ['{"a":"é"', "}"], 1)])),
    );
    const read = (pieces: readonly Uint8Array[]) => {
      const deltas: ModelDelta[] = [];
      const push = (delta: ModelDelta) => deltas.push(delta);
      const answer = new ChatAnswer({ endpoint: "here", createReader: () => new ResponseReader(9), push });
      for (const piece of pieces) answer.read(piece);
      answer.end();
      return merged(deltas);
    };
    const expected = read([bytes]);
    const cuts = fc.uniqueArray(fc.integer({ min: 1, max: bytes.length - 1 }), { maxLength: 40 });
    fc.assert(
      fc.property(cuts, (given) => {
        const at = [0, ...given.toSorted((a, b) => a - b), bytes.length];
        const pieces = at.slice(1).map((end, index) => bytes.subarray(at[index], end));
        expect(read(pieces)).toEqual(expected);
      }),
    );
  });
});

/** Text that follows text as one: how much of it comes at once depends on the network. */
function merged(deltas: readonly ModelDelta[]): ModelDelta[] {
  const all: ModelDelta[] = [];
  for (const delta of deltas) {
    const last = all.at(-1);
    if (delta.type === "text.delta" && last?.type === "text.delta")
      all[all.length - 1] = { type: "text.delta", text: last.text + delta.text };
    else all.push(delta);
  }
  return all;
}

describe("a stream of a server with faults of its own", () => {
  const callAt0 = (id: string, input: string) =>
    call("add", [input]).map((event) =>
      JSON.parse(JSON.stringify(event).replaceAll("fc_0", `fc_${id}`).replaceAll("call_0", `call_${id}`)),
    ) as object[];
  const one = callAt0("1", '{"a":1}');
  const two = callAt0("2", '{"a":2}');

  test.each([
    ["one after the other", [...one, ...two]],
    ["at the same time", one.flatMap((event, at) => [event, ...two.slice(at, at + 1)])],
    ["only when they are done", [...one.slice(-1), ...two.slice(-1)]],
  ])("keeps two calls with one output_index apart: %s", async (_when, events) => {
    const { deltas } = await answers(stream(events));
    expect(deltas.filter(({ type }) => type === "call.ended")).toEqual([
      { type: "call.ended", id: "call_1", name: "add", arguments: '{"a":1}', isTruncated: false },
      { type: "call.ended", id: "call_2", name: "add", arguments: '{"a":2}', isTruncated: false },
    ]);
  });

  test("has one call, though each event gives its item another id", async () => {
    const events = one.map(
      (event, at) => JSON.parse(JSON.stringify(event).replaceAll("fc_1", `fc_${at}`)) as object,
    );
    const { deltas } = await answers(stream(events));
    expect(deltas.filter(({ type }) => type === "call.ended")).toMatchObject([{ arguments: '{"a":1}' }]);
  });

  test("takes arguments that are an object", async () => {
    const item = { type: "function_call", id: "fc_1", call_id: "call_1", name: "add", arguments: { a: 1 } };
    const { deltas } = await answers(stream([{ type: "response.output_item.done", output_index: 0, item }]));
    expect(deltas).toContainEqual(expect.objectContaining({ type: "call.ended", arguments: '{"a":1}' }));
  });

  test("reads the output of the last event where no item had events", async () => {
    const content = [{ type: "output_text", text: "Hi." }];
    const output = [
      { type: "message", id: "msg_1", role: "assistant", content },
      { type: "function_call", id: "fc_1", call_id: "call_1", name: "add", arguments: '{"a":1}' },
    ];
    const { deltas } = await answers(stream([], { output }));
    expect(deltas).toContainEqual({ type: "text.delta", text: "Hi." });
    expect(deltas).toContainEqual(expect.objectContaining({ type: "call.ended", arguments: '{"a":1}' }));
    expect((await answers(stream(message(["Hi."]), { output }))).deltas).toHaveLength(2);
  });
});

test("nested JSON that would overflow a stack is skipped", async () => {
  const deep = `${'{"a":'.repeat(5000)}1${"}".repeat(5000)}`;
  const event = `data: {"type":"response.output_item.done","item":{"type":"odd","x":${deep}}}\n\n`;
  const { deltas, error } = await answers(`${event}${framed(stream(message(["Fine."])))}`);
  expect(error).toBeUndefined();
  expect(deltas.map(({ type }) => type)).toEqual(["text.delta", "finished"]);
});
