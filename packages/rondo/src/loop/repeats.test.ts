import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { setLogger } from "../error/logger.ts";
import { tool } from "../index.ts";
import { scriptedModel } from "../testing/index.ts";
import type { LoopEvent } from "./events.ts";
import { Repeats } from "./repeats.ts";
import { add, callAdd, eventsOf, last, prompt } from "./testkit/loop-kit.ts";

beforeEach(() => setLogger({ warn: () => {} }));
afterEach(() => setLogger());

const times = <T>(count: number, value: T): T[] => Array.from({ length: count }, () => value);

/** A tool that gives these, one after the other. */
function giving(results: readonly unknown[]) {
  let runs = 0;
  return tool("poll", "Polls.", {}, () => results[runs++]);
}

/** What became of each call, in short. */
function inShort(events: readonly LoopEvent[]): string[] {
  return events.flatMap((event) =>
    event.type === "tool.started" ? ["run"] : event.type === "call.rejected" ? [event.reason] : [],
  );
}

describe("a call is repeated", () => {
  const call = { name: "poll" };

  test("if its arguments and its result are as before", async () => {
    using model = scriptedModel([...times(4, { calls: [call] }), "Fine."]);
    const events = await eventsOf(prompt, { model, tools: [giving(times(4, "the same"))] });
    expect(inShort(events)).toEqual(["run", "run", "run", "repeated"]);
    expect(events).toContainEqual(
      expect.objectContaining({
        type: "call.rejected",
        error: expect.stringContaining("made 3 times in a row with the same result"),
      }),
    );
  });

  test("not if its result changes: a poll runs as often as the model likes", async () => {
    using model = scriptedModel([...times(8, { calls: [call] }), "Done."]);
    const poll = giving(["10%", "10%", "10%", "20%"].flatMap((it) => [it, `${it}!`]));
    expect(inShort(await eventsOf(prompt, { model, tools: [poll] }))).toEqual(times(8, "run"));
  });

  test("only from its last change on", async () => {
    using model = scriptedModel([...times(6, { calls: [call] }), "Done."]);
    const poll = giving(["a", "a", "b", "b", "b"]);
    expect(inShort(await eventsOf(prompt, { model, tools: [poll] }))).toEqual([
      ...times(5, "run"),
      "repeated",
    ]);
  });

  test("not if another answer without it came in between", async () => {
    const script = [...times(3, { calls: [call] }), { calls: [callAdd] }, { calls: [call] }, "Done."];
    using model = scriptedModel(script);
    const events = await eventsOf(prompt, { model, tools: [add, giving(times(4, "the same"))] });
    expect(inShort(events)).toEqual(times(5, "run"));
  });

  test("stays so while it is made, and is told with how often it ran", async () => {
    using model = scriptedModel([...times(4, { calls: [call, callAdd] }), "Done."]);
    let sum = 0;
    const changing = tool("add", "Adds.", { a: Number, b: Number }, () => sum++);
    const events = await eventsOf(prompt, { model, tools: [changing, giving([1, 1])], maxRepeats: 2 });
    expect(inShort(events)).toEqual([...times(4, "run"), "repeated", "run", "repeated", "run"]);
    expect(events.filter(({ type }) => type === "call.rejected")).toMatchObject(
      times(2, { error: expect.stringContaining("made 2 times") }),
    );
  });

  test("at once, if maxRepeats is 1", async () => {
    using model = scriptedModel([...times(2, { calls: [call] }), "Done."]);
    const events = await eventsOf(prompt, { model, tools: [giving([1, 2])], maxRepeats: 1 });
    expect(inShort(events)).toEqual(["run", "repeated"]);
    expect(events).toContainEqual(
      expect.objectContaining({ error: expect.stringContaining("This same call was just made.") }),
    );
  });

  test("also if it only fails, in the same way each time", async () => {
    const wrong = { name: "add", input: { a: "x", b: 1 } };
    using model = scriptedModel([...times(4, { calls: [wrong] })]);
    const events = await eventsOf(prompt, { model, tools: [add] });
    expect(inShort(events)).toEqual(["invalid", "invalid", "invalid", "repeated"]);
    expect(last(events)).toMatchObject({ reason: "max_turns" });
  });

  test("without a limit, if maxRepeats says so", async () => {
    using model = scriptedModel([...times(20, { calls: [callAdd] }), { calls: times(20, callAdd) }, "Done."]);
    const events = await eventsOf(prompt, { model, tools: [add], maxRepeats: Number.POSITIVE_INFINITY });
    expect(inShort(events)).toEqual(times(40, "run"));
  });
});

describe("the same call many times in one answer", () => {
  test("is run maxRepeats times", async () => {
    using model = scriptedModel([{ calls: times(5, callAdd) }, "Done."]);
    const events = await eventsOf(prompt, { model, tools: [add] });
    expect(inShort(events).toSorted()).toEqual(["repeated", "repeated", "run", "run", "run"]);
    expect(events).toContainEqual(
      expect.objectContaining({ error: expect.stringContaining("in one answer more than 3 times") }),
    );
  });

  test("counts each time, by its result", async () => {
    const poll = { name: "poll" };
    const script = [{ calls: times(3, poll) }, { calls: [poll] }, "Done."];
    using stuck = scriptedModel(script);
    const same = await eventsOf(prompt, { model: stuck, tools: [giving(times(4, 1))] });
    expect(inShort(same)).toEqual([...times(3, "run"), "repeated"]);
    using rolling = scriptedModel(script);
    const dice = await eventsOf(prompt, { model: rolling, tools: [giving([4, 2, 6, 1])] });
    expect(inShort(dice)).toEqual(times(4, "run"));
  });
});

test("what was not made again is forgotten", () => {
  const repeats = new Repeats(1);
  const one = { name: "add", arguments: "1" };
  const two = { name: "add", arguments: "2" };
  repeats.note(one, "same");
  expect(repeats.check([one])).toEqual([expect.stringContaining("was just made")]);
  expect(repeats.check([two])).toEqual([undefined]);
  expect(repeats.check([one])).toEqual([undefined]);
});
