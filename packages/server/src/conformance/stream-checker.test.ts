import { expect, test } from "vitest";
import { type Frame, framesOf, textOf } from "./testkit/frames.ts";
import { flawsOf } from "./testkit/public-schema.ts";
import { framed, sampleEvents } from "./testkit/sample-stream.ts";
import { streamFlaws } from "./testkit/stream-checker.ts";

// biome-ignore lint/suspicious/noExplicitAny: events are broken wherever it hurts.
type Events = any[];

test("a stream that follows the contract has no flaws, and its events follow the public schema", () => {
  const frames = framesOf(textOf(framed(sampleEvents())));
  expect(streamFlaws(frames)).toEqual([]);
  for (const { data } of frames.slice(0, -1)) expect(flawsOf("ResponseStreamEvent", data)).toEqual([]);
});

test("keepalive events count, and nothing more", () => {
  const events = sampleEvents();
  events.splice(5, 0, { type: "keepalive" });
  expect(streamFlaws(framed(numbered(events)))).toEqual([]);
});

test("a background run is queued between created and in progress, and nowhere else", () => {
  const queued = (events: Events, index: number) =>
    streamFlaws(framed(numbered(events.toSpliced(index, 0, { ...events[0], type: "response.queued" }))));
  expect(queued(sampleEvents(), 1)).toEqual([]);
  expect(queued(sampleEvents(), 0).join()).toContain("before 'response.created'");
  expect(queued(sampleEvents(), 2).join()).toContain("too late");
});

test("a stream that was left early is looked at as far as it came", () => {
  const frames = framed(sampleEvents());
  for (let length = 0; length < frames.length; length++)
    expect(streamFlaws(frames.slice(0, length), { isCut: true })).toEqual([]);
});

test("every single event is needed: without it, there is a flaw", () => {
  const events = sampleEvents();
  for (const [index, { type }] of events.entries()) {
    const rest = numbered(events.filter((_event, other) => other !== index));
    expect([type, streamFlaws(framed(rest)).length > 0]).toEqual([type, true]);
  }
});

test("every single event comes once: twice is a flaw", () => {
  const events = sampleEvents();
  for (const [index, event] of events.entries()) {
    const more = numbered(events.toSpliced(index, 0, event));
    expect([event.type, streamFlaws(framed(more)).length > 0]).toEqual([event.type, true]);
  }
});

test.each<[string, (events: Events) => Events, string]>([
  ["a gap in the numbers", (events) => events.toSpliced(4, 1), "expected sequence_number 4, but got 5"],
  ["an output_index that jumps", (events) => set(events, 2, { output_index: 7 }), "expected output_index 0"],
  [
    "a content_index that jumps",
    (events) => set(events, at(events, "content_part.added"), { content_index: 1 }),
    "expected content_index 0",
  ],
  [
    "a summary_index that jumps",
    (events) => set(events, 3, { summary_index: 1 }),
    "expected summary_index 0",
  ],
  ["a delta of an unknown item", (events) => set(events, 4, { item_id: "msg_9" }), "unknown item 'msg_9'"],
  ["a delta at the wrong output_index", (events) => set(events, 4, { output_index: 1 }), "its item is at 0"],
  [
    "text that was not streamed",
    (events) => set(events, at(events, "output_text.done"), { text: "Bye" }),
    "add up to",
  ],
  [
    "arguments that were not streamed",
    (events) => set(events, at(events, "function_call_arguments.done"), { arguments: "{}" }),
    "add up to",
  ],
  [
    "arguments of another function",
    (events) => set(events, at(events, "function_call_arguments.done"), { name: "sub" }),
    "are done for 'sub'",
  ],
  [
    "an event under a new name",
    (events) => set(events, 4, { type: "response.thought" }),
    "'response.thought'",
  ],
  [
    "a terminal status that does not fit",
    (events) => ended(events, { status: "failed" }),
    "the status 'failed'",
  ],
  [
    "output that was not streamed",
    (events) => ended(events, { output: outputOf(events).slice(1) }),
    "is not the items",
  ],
  [
    "output in another order",
    (events) => ended(events, { output: outputOf(events).toReversed() }),
    "is not the items",
  ],
  ["another response's end", (events) => ended(events, { id: "resp_2" }), "'resp_1' to 'resp_2'"],
  ["no usage at the end", (events) => ended(events, { usage: null }), "has no usage"],
  [
    "an item that is never finished",
    (events) => set(events, at(events, "output_item.done"), { item: { ...events[2].item } }),
    "is done with the status 'in_progress'",
  ],
  [
    "a failure without its error event",
    (events) => {
      const failed = ended(events, { status: "failed", error: { code: "server_error", message: "m" } });
      return set(failed, events.length - 1, { type: "response.failed" });
    },
    "without 'error'",
  ],
  [
    "requires_action without a call for the client",
    (events) => {
      const rest = events.filter(({ output_index: index }) => index !== 3);
      return numbered(ended(rest, { output: outputOf(events).slice(0, -1) }));
    },
    "there is no function_call",
  ],
  [
    "a server's call that has ended otherwise",
    (events) => set(events, at(events, "mcp_call.completed"), { type: "response.mcp_call.failed" }),
    "after [in_progress, failed]",
  ],
])("finds %s", (_what, breakIt, flaw) => {
  const events = sampleEvents();
  expect(streamFlaws(framed(breakIt(events))).join("\n")).toContain(flaw);
});

test.each<[string, (frames: Frame[]) => Frame[], string]>([
  ["no [DONE]", (frames) => frames.slice(0, -1), "without [DONE]"],
  ["no terminal event", (frames) => frames.toSpliced(-2, 1), "without a terminal event"],
  ["something after [DONE]", (frames) => [...frames, ...frames.slice(-2)], "after [DONE]"],
  [
    "a name that is not the type",
    (frames) => frames.with(0, { event: "message", data: frames[0]?.data }),
    "named 'message'",
  ],
])("finds %s", (_what, breakIt, flaw) => {
  expect(streamFlaws(breakIt(framed(sampleEvents()))).join("\n")).toContain(flaw);
});

test.each([
  ["data alone", 'data: {"type":"error"}\n\n', "Expected a frame"],
  ["no JSON", "event: error\ndata: {\n\n", "JSON"],
  ["a frame that is cut off", "event: error\ndata: {}", "ends within a frame"],
])("bytes are refused: %s", (_what, text, message) => {
  expect(() => framesOf(text)).toThrow(message);
});

test("comments are passed over", () => {
  expect(framesOf(": keep-alive\n\ndata: [DONE]\n\n")).toEqual([{ event: undefined, data: "[DONE]" }]);
});

function numbered(events: Events): Events {
  return events.map((event, sequence_number) => ({ ...event, sequence_number }));
}

function set(events: Events, index: number, change: object): Events {
  return events.with(index, { ...events[index], ...change });
}

function at(events: Events, type: string): number {
  return events.findIndex((event) => event.type === `response.${type}`);
}

function outputOf(events: Events): unknown[] {
  return events.at(-1).response.output;
}

/** With a change in the terminal response. */
function ended(events: Events, change: object): Events {
  return set(events, events.length - 1, { response: { ...events.at(-1).response, ...change } });
}
