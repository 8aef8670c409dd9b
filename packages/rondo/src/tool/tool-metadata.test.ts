import { setImmediate as nextTick } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { tool } from "../index.ts";

const start = new Date("2026-01-01T00:00:00Z");

/** Lets the clock of the test go on. Nothing waits for it. */
function passSeconds(seconds: number): Date {
  const now = new Date(Date.now() + seconds * 1_000);
  vi.setSystemTime(now);
  return now;
}

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"], now: start });
});
afterEach(() => {
  vi.useRealTimers();
});

test("before the first run there are no times", () => {
  const { metadata } = tool("greet", "Greets.", { name: String }, () => 1);
  expect(metadata).toMatchObject({ name: "greet", description: "Greets.", startTime: null, endTime: null });
});

test("during a run the start is visible and there is no end", async () => {
  const seen: unknown[] = [];
  const made = tool("t", "d", {}, () => {
    passSeconds(1);
    seen.push(made.metadata.startTime, made.metadata.endTime);
  });
  await made.execute({});
  expect(seen).toEqual([start, null]);
  expect(made.metadata.endTime).toEqual(new Date("2026-01-01T00:00:01Z"));
});

test("a run that fails has an end", async () => {
  const made = tool("t", "d", {}, () => {
    passSeconds(1);
    throw new Error("no");
  });
  await expect(made.execute({})).rejects.toThrow("no");
  expect(made.metadata).toMatchObject({ startTime: start, endTime: new Date("2026-01-01T00:00:01Z") });
});

test("a run whose input is refused has an end", async () => {
  const made = tool("t", "d", { a: String }, () => 1);
  await expect(made.execute({} as never)).rejects.toThrow(TypeError);
  expect(made.metadata).toMatchObject({ startTime: start, endTime: start });
});

test("the next run overwrites both times", async () => {
  const made = tool("t", "d", {}, () => 1);
  await made.execute({});
  const later = passSeconds(10);
  await made.execute({});
  expect(made.metadata).toMatchObject({ startTime: later, endTime: later });
});

test("during the next run the end of the one before is gone", async () => {
  const ends: unknown[] = [];
  const made = tool("t", "d", {}, () => {
    ends.push(made.metadata.endTime);
  });
  await made.execute({});
  await made.execute({});
  expect(ends).toEqual([null, null]);
});

test("a stream has an end when it is over, not when it begins", async () => {
  const made = tool("t", "d", {}, async function* () {
    yield 1;
  });
  const run = made.execute({});
  await run.next();
  expect(made.metadata).toMatchObject({ startTime: start, endTime: null });
  const end = passSeconds(5);
  await run.next();
  expect(made.metadata).toMatchObject({ startTime: start, endTime: end });
});

test("a stream that was left has an end", async () => {
  const made = tool("t", "d", {}, async function* () {
    yield 1;
  });
  for await (const value of made.execute({})) if (value === 1) break;
  expect(made.metadata.endTime).toEqual(start);
});

describe("of runs at the same time", () => {
  /** A tool whose runs end when the test says so. */
  function gatedTool() {
    const gates: PromiseWithResolvers<void>[] = [];
    const made = tool("t", "d", {}, () => {
      const gate = Promise.withResolvers<void>();
      gates.push(gate);
      return gate.promise;
    });
    return { made, end: (run: number) => gates[run]?.resolve() };
  }

  test("both times belong to the one that started last, whichever ends first", async () => {
    const { made, end } = gatedTool();
    const first = made.execute({});
    await nextTick();
    const secondStart = passSeconds(1);
    const second = made.execute({});
    await nextTick();
    expect(made.metadata).toMatchObject({ startTime: secondStart, endTime: null });

    passSeconds(1);
    end(0);
    await first;
    expect(made.metadata).toMatchObject({ startTime: secondStart, endTime: null });

    const secondEnd = passSeconds(1);
    end(1);
    await second;
    expect(made.metadata).toMatchObject({ startTime: secondStart, endTime: secondEnd });
  });

  test("the end of an older one does not replace the end of the newer one", async () => {
    const { made, end } = gatedTool();
    const first = made.execute({});
    await nextTick();
    passSeconds(1);
    const second = made.execute({});
    await nextTick();
    const secondEnd = passSeconds(1);
    end(1);
    await second;
    passSeconds(1);
    end(0);
    await first;
    expect(made.metadata.endTime).toEqual(secondEnd);
  });
});

test("as JSON it has the times as ISO strings or null, and the schemas", async () => {
  const made = tool(
    {
      name: "greet",
      description: "Greets.",
      input: { name: String },
      output: { type: "string" },
      registry: false,
    },
    async ({ name }) => `Hello ${name}`,
  );
  const inputSchema = { type: "object", properties: { name: { type: "string" } }, required: ["name"] };
  const rest = { name: "greet", description: "Greets.", inputSchema, outputSchema: { type: "string" } };
  expect(made.metadata.toJSON()).toEqual({ ...rest, startTime: null, endTime: null });
  await made.execute({ name: "Ann" });
  const iso = "2026-01-01T00:00:00.000Z";
  expect(JSON.parse(JSON.stringify(made.metadata))).toEqual({ ...rest, startTime: iso, endTime: iso });
});
