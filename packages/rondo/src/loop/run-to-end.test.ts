import { getEventListeners } from "node:events";
import { expect, test } from "vitest";
import { tool } from "../index.ts";
import type { Message } from "../model/message.ts";
import { scriptedModel } from "../testing/index.ts";
import { flawsOf } from "../testkit/flaws-of.ts";
import type { LoopEvent } from "./events.ts";
import { runToEnd } from "./run.ts";
import { add, callAdd, eventsOf, prompt } from "./testkit/loop-kit.ts";

const script = [{ thinking: "Hm.", text: "One moment.", calls: [callAdd, callAdd] }, "Three."];

test("a function gets the same events as who iterates them", async () => {
  using model = scriptedModel([...script, ...script]);
  const iterated = await eventsOf(prompt, { model, tools: [add] });
  const taken: LoopEvent[] = [];
  await runToEnd(prompt, { model, tools: [add] }, (event) => void taken.push(event));
  const withoutIds = (events: readonly LoopEvent[]) =>
    JSON.stringify(events).replaceAll(/"(id|tool_call_id)":"[^"]*"/g, "");
  expect(withoutIds(taken)).toBe(withoutIds(iterated));
  expect(taken.at(-1)).toMatchObject({ type: "run.finished", reason: "completed" });
});

test("a tool starts when its event was taken", async () => {
  const order: string[] = [];
  const look = tool("look", "Looks.", {}, () => void order.push("runs"));
  using model = scriptedModel([{ calls: [{ name: "look" }] }, "Done."]);
  await runToEnd(prompt, { model, tools: [look] }, (event) => {
    if (event.type !== "tool.started") return undefined;
    return new Promise((resolve) =>
      setTimeout(() => {
        order.push("taken");
        resolve();
      }, 5),
    );
  });
  expect(order).toEqual(["taken", "runs"]);
});

test.for([
  "model.started",
  "text.delta",
  "call.ready",
  "model.finished",
  "tool.started",
  "tool.progress",
  "tool.finished",
])(
  "an abort while '%s' is taken ends the run with `aborted`, and every call has its answer",
  async (type) => {
    using model = scriptedModel([{ text: "One moment.", calls: [callAdd, { name: "count" }] }]);
    const count = tool("count", "Counts.", {}, async function* () {
      yield 1;
      yield 2;
    });
    const outside = new AbortController();
    const { signal } = outside;
    const messages: Message[] = [...prompt];
    const onMessage = (message: Message) => messages.push(message);
    const taken: LoopEvent[] = [];
    await runToEnd(prompt, { model, tools: [add, count], onMessage, signal }, async (event) => {
      taken.push(event);
      if (event.type === type) outside.abort();
    });
    expect(taken.at(-1)).toMatchObject({ type: "run.finished", reason: "aborted" });
    expect(flawsOf(messages)).toEqual([]);
    expect(getEventListeners(signal, "abort")).toEqual([]);
  },
);

test.for(["model.started", "text.delta", "call.ready", "model.finished", "tool.started", "tool.finished"])(
  "where taking '%s' fails, the run ends, its tools are aborted, and every call has its answer",
  async (type) => {
    using model = scriptedModel([{ text: "One moment.", calls: [callAdd, { name: "wait" }] }]);
    let isAborted = false;
    const wait = tool(
      "wait",
      "Waits until it is aborted.",
      {},
      (_, { signal }) =>
        new Promise((resolve) =>
          signal.addEventListener("abort", () => {
            isAborted = true;
            resolve("");
          }),
        ),
    );
    const messages: Message[] = [...prompt];
    const taken: string[] = [];
    const onMessage = (message: Message) => messages.push(message);
    const running = runToEnd(prompt, { model, tools: [add, wait], onMessage }, async (event) => {
      taken.push(event.type);
      if (event.type === type) throw new Error("no room");
    });
    await expect(running).rejects.toThrow("no room");
    expect(taken.at(-1)).toBe(type);
    expect(flawsOf(messages)).toEqual([]);
    expect(isAborted).toBe(type === "tool.finished");
  },
);
