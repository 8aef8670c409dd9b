import { expect, test } from "vitest";
import type { StreamEvent } from "../../protocol/events.ts";
import { ServerEvents } from "./chat-events.ts";

const delta = (kind: "reasoning_text" | "reasoning_summary_text", item: string, text: string) =>
  ({ type: `response.${kind}.delta`, item_id: item, delta: text }) as StreamEvent;

test("a thought is read once, whether it comes as a summary, as content or as both", () => {
  const events = new ServerEvents();
  const sent = [
    delta("reasoning_summary_text", "rs_1", "I "),
    delta("reasoning_summary_text", "rs_1", "add."),
    delta("reasoning_text", "rs_2", "So "),
    delta("reasoning_summary_text", "rs_2", "So "),
    delta("reasoning_text", "rs_2", "5."),
    delta("reasoning_summary_text", "rs_2", "5."),
  ];
  const read = sent.flatMap((event) => [...events.read(event)]);
  expect(read.map((event) => (event.type === "thinking" ? event.text : event.type))).toEqual([
    "I ",
    "add.",
    "So ",
    "5.",
  ]);
});
