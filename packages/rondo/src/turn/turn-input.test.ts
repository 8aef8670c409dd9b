import { describe, expect, test } from "vitest";
import { InvalidInputError, literal, Turn, tool } from "../index.ts";

const echo = tool(
  "echo",
  "Give back what came.",
  { text: String, list: { type: "array", optional: true } },
  (input) => input,
);

describe("a function as an input value", () => {
  test.each([
    ["sync", () => "later"],
    ["async", async () => "later"],
    ["a method without parameters", "later".toString.bind("later")],
  ])("is called for the value when the tool runs: %s", async (_kind, text) => {
    expect(await new Turn(echo, { text }).returning()).toEqual({ text: "later" });
  });

  test("is called once per run, and not when the turn is created or read", async () => {
    let calls = 0;
    const next = () => {
      calls += 1;
      return `call ${calls}`;
    };
    const turn = new Turn(echo, { text: next });
    expect(turn.input["text"]).toBe(next);
    expect(() => turn.toJSON()).toThrow("input.text");
    turn.copy();
    expect(calls).toBe(0);
    expect(await turn.returning()).toEqual({ text: "call 1" });
    expect(await turn.returning()).toEqual({ text: "call 2" });
    expect(turn.input["text"]).toBe(next);
  });

  test("is called with no arguments", async () => {
    const seen: unknown[][] = [];
    const spy = (...args: unknown[]) => {
      seen.push(args);
      return "text";
    };
    await new Turn(echo, { text: spy }).returning();
    expect(seen).toEqual([[]]);
  });

  test("is called before beforeInvoke, which sees the value", async () => {
    const seen: unknown[] = [];
    const local = tool("local", "", { text: String }, () => {});
    local.beforeInvoke(async ({ text }) => seen.push(text));
    await new Turn(local, { text: () => "later" }).returning();
    expect(seen).toEqual(["later"]);
  });

  test("gives a value that is checked like any other", async () => {
    const turn = new Turn(echo, { text: (() => 7) as never });
    await expect(turn.returning()).rejects.toThrow(InvalidInputError);
    await expect(turn.returning()).rejects.toThrow("text");
  });

  test("fails the turn with its error when it throws, and the tool does not run", async () => {
    let calls = 0;
    const local = tool("local", "", { text: String }, () => {
      calls += 1;
    });
    const turn = new Turn(local, {
      text: async () => {
        throw new Error("no secret");
      },
    });
    await expect(turn.returning()).rejects.toThrow("no secret");
    expect(turn.stopReason).toBe("error");
    expect(calls).toBe(0);
  });

  test("works for a stream too", async () => {
    const chars = tool("chars", "", { text: String }, async function* ({ text }) {
      yield* text;
    });
    expect(await Array.fromAsync(new Turn(chars, { text: async () => "ab" }).yielding())).toEqual(["a", "b"]);
  });

  test("is passed through as it is if it is literal", async () => {
    const callback = () => "called";
    const take = tool("take", "", { type: "object" }, (input) => input["callback"]);
    const turn = new Turn(take, { callback: literal(callback) });
    expect(await turn.returning()).toBe(callback);
  });
});

describe("values that are not functions", () => {
  test("pass through unchanged, a class instance as the very same", async () => {
    const take = tool("take", "", { type: "object" }, (input) => input);
    const when = new Date(0);
    const values = { text: "a", number: 0, nothing: null, list: [1, [2]], nested: { a: { b: false } }, when };
    const received = await new Turn(take, values).returning();
    expect(received).toEqual(values);
    expect(received["when"]).toBe(when);
  });
});

describe("the input of a turn", () => {
  test("is a copy: changing the caller's object afterwards does not change the turn", async () => {
    const input = { text: "before", list: [{ n: 1 }] };
    const turn = new Turn(echo, input);
    input.text = "after";
    input.list[0] = { n: 2 };
    expect(turn.input).toEqual({ text: "before", list: [{ n: 1 }] });
    expect(await turn.returning()).toEqual({ text: "before", list: [{ n: 1 }] });
  });

  test("is frozen at every depth", () => {
    const turn = new Turn(echo, { text: "a", list: [{ n: 1 }] });
    expect(() => Object.assign(turn.input, { text: "b" })).toThrow(TypeError);
    expect(() => (turn.input["list"] as unknown[]).push(2)).toThrow(TypeError);
    expect(() => Object.assign((turn.input["list"] as object[])[0] ?? {}, { n: 2 })).toThrow(TypeError);
  });

  test("does not freeze the caller's object", () => {
    const input = { text: "a", list: [1] };
    expect(new Turn(echo, input).input).toEqual(input);
    input.list.push(2);
    expect(input.list).toEqual([1, 2]);
  });

  test("is not changed by a tool that changes its input", async () => {
    const greedy = tool("greedy", "", { list: Array }, ({ list }) => {
      list.push("mine");
      return list.length;
    });
    const turn = new Turn(greedy, { list: [1] });
    expect(await turn.returning()).toBe(2);
    expect(await turn.returning()).toBe(2);
    expect(turn.input).toEqual({ list: [1] });
  });

  test("may hold a key that means something to JavaScript", async () => {
    const take = tool("take", "", { type: "object" }, (input) => input);
    const input = JSON.parse('{"__proto__": {"polluted": true}, "constructor": 1}') as object;
    const received = await new Turn(take, input as never).returning();
    expect(Object.keys(received)).toEqual(["__proto__", "constructor"]);
    expect(Object.getPrototypeOf(received)).toBe(Object.prototype);
    expect(received["polluted"]).toBeUndefined();
  });

  test("that is unknown to the tool is dropped, and a missing value is an error", async () => {
    expect(await new Turn(echo, { text: "a", more: 1 } as never).returning()).toEqual({ text: "a" });
    const turn = new Turn(echo, {} as never);
    await expect(turn.returning()).rejects.toThrow(TypeError);
    await expect(turn.returning()).rejects.toThrow("text");
  });
});
