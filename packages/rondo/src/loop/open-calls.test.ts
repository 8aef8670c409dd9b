// Calls that a conversation ends in, where someone decides about each of them.

import { describe, expect, test } from "vitest";
import { type Message, tool } from "../index.ts";
import type { CallDecision } from "../loop.ts";
import { scriptedModel } from "../testing/index.ts";
import { eventsOf, last, prompt } from "./testkit/loop-kit.ts";

const say = (name: string, words: string) => tool(name, "Says something.", {}, () => words);
const here = say("here", "from here");
const there = say("there", "from there");

const call = (id: string, name: string) =>
  ({ id, type: "function", function: { name, arguments: "{}" } }) as const;
const open: Message[] = [
  ...prompt,
  { role: "assistant", content: "", tool_calls: [call("1", "here"), call("2", "here"), call("3", "gone")] },
];

describe("a decision about an open call", () => {
  test("chooses the tool by the call's id, whatever its name means now", async () => {
    const decisions: Record<string, CallDecision> = {
      1: { type: "run", tool: there },
      2: { type: "reject", error: "It is not known what this was." },
      3: { type: "run", tool: here },
    };
    using model = scriptedModel(["Done."]);
    const events = await eventsOf(open, {
      model,
      tools: [here, there],
      decideCall: ({ id, isOpen }) => (isOpen ? decisions[id] : { type: "leave" }),
    });
    const results = events.flatMap((it) =>
      it.type === "tool.finished" ? [[it.id, it.message.content]] : [],
    );
    expect(results).toEqual([
      ["1", "from there"],
      ["2", expect.stringContaining("It is not known what this was.")],
      ["3", "from here"],
    ]);
    expect(last(events)).toMatchObject({ reason: "completed" });
  });

  test("leaves a call to the client whose tool is not offered any more", async () => {
    using model = scriptedModel([]);
    const events = await eventsOf(open, {
      model,
      tools: [here],
      decideCall: ({ id }) => (id === "3" ? { type: "leave" } : undefined),
    });
    const answered = events.flatMap((it) => (it.type === "tool.finished" ? [it.id] : []));
    expect(answered).toEqual(["1", "2"]);
    expect(last(events)).toMatchObject({ reason: "client_calls" });
  });

  test("is told from one about a later call with the same id", async () => {
    using model = scriptedModel([{ calls: [{ id: "1", name: "here", input: {} }] }]);
    const events = await eventsOf(open, {
      model,
      tools: [here],
      decideCall: ({ isOpen }) => (isOpen ? { type: "run", tool: here } : { type: "leave" }),
    });
    expect(events.filter((it) => it.type === "tool.finished")).toHaveLength(3);
    expect(last(events)).toMatchObject({ reason: "client_calls" });
  });

  test("does not run a tool that is not offered", async () => {
    using model = scriptedModel(["Done."]);
    const events = await eventsOf(open, {
      model,
      tools: [here, there],
      isOffered: ({ name }) => name === "here",
      decideCall: () => ({ type: "run", tool: there }),
    });
    expect(events.filter((it) => it.type === "tool.started")).toEqual([]);
  });
});
