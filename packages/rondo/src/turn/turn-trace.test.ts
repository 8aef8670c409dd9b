import { AsyncLocalStorage } from "node:async_hooks";
import { describe, expect, test } from "vitest";
import { type TraceEvent, type Tracer, Turn, tool } from "../index.ts";
import { collectWarnings } from "../testkit/warnings.ts";

const registry = false;
const add = tool({ name: "add", description: "", registry, input: { a: Number } }, async ({ a }) => a + 1);

function recorder(more: Partial<Tracer> = {}): Tracer & { readonly events: TraceEvent[] } {
  const events: TraceEvent[] = [];
  return { events, record: (event) => void events.push(event), ...more };
}

test("a turn starts and finishes, with its input and output on demand", async () => {
  const tracer = recorder();
  const turn = new Turn(add, { a: 1 }, { callId: "call_1", uuid: "turn_1" });
  await turn.returning({ tracer });
  await turn.returning({ tracer });
  const started = { type: "turn.started", turnId: "turn_1", name: "add", callId: "call_1" };
  const finished = { type: "turn.finished", turnId: "turn_1", stopReason: "completed" };
  expect(tracer.events).toMatchObject([
    { ...started, attempt: 1 },
    finished,
    { ...started, attempt: 2 },
    finished,
  ]);
  const [first, second] = tracer.events;
  expect(first?.type === "turn.started" && first.input()).toEqual({ a: 1 });
  expect(second?.type === "turn.finished" && second.output?.()).toBe(2);
});

test("fixed arguments, which may be secrets, are not in the input", async () => {
  const secret = tool(
    { name: "secret", description: "", registry, input: { key: String }, fixed: { key: "hush" } },
    async ({ key }) => key.length,
  );
  const tracer = recorder();
  await secret.execute({}, { tracer });
  const [started] = tracer.events;
  expect(started?.type === "turn.started" && started.input()).toEqual({});
});

test.each([
  ["its tool throws", "error", { type: "TypeError", message: "broken" }],
  ["its time is up", "timeout", { type: "turn_timeout" }],
  ["it is cancelled", "cancelled", { type: "AbortError" }],
  ["its input is invalid", "error", { type: "invalid_input" }],
])("a turn fails: %s", async (name, stopReason, error) => {
  const stopping = new AbortController();
  const fails = tool(
    { name: "fails", description: "", registry, input: { a: Number }, timeoutMs: 5 },
    async (_, { signal }) => {
      if (name === "its tool throws") throw new TypeError("broken");
      if (name === "it is cancelled") stopping.abort();
      await new Promise((_resolve, reject) => {
        signal.addEventListener("abort", () => reject(signal.reason));
        if (signal.aborted) reject(signal.reason);
      });
    },
  );
  const tracer = recorder();
  const input = { a: name === "its input is invalid" ? "x" : 1 } as { a: number };
  const failure: unknown = await new Turn(fails, input)
    .returning({ tracer, signal: stopping.signal })
    .catch((it: unknown) => it);
  expect(failure).toBeInstanceOf(Error);
  expect(tracer.events).toMatchObject([
    { type: "turn.started" },
    { type: "turn.finished", stopReason, error },
  ]);
});

test("a turn that waits for its tool's lock, and the values of a stream", async () => {
  const locked = tool({ name: "locked", description: "", registry, lock: true }, async function* () {
    yield "a";
    await new Promise((resolve) => setImmediate(resolve));
    yield "b";
  });
  const tracers = [recorder(), recorder()];
  await Promise.all(tracers.map((tracer) => Array.fromAsync(new Turn(locked).yielding({ tracer }))));
  const progress = [
    { type: "turn.progress", count: 1 },
    { type: "turn.progress", count: 2 },
  ];
  expect(tracers.map(({ events }) => events)).toMatchObject([
    [{ type: "turn.started" }, ...progress, { type: "turn.finished" }],
    [
      { type: "turn.started" },
      { type: "lock.awaited" },
      { type: "lock.taken" },
      ...progress,
      { type: "turn.finished" },
    ],
  ]);
});

test("a stream that is left finishes cancelled", async () => {
  const tracer = recorder();
  const endless = tool({ name: "endless", description: "", registry }, async function* () {
    while (true) yield 1;
  });
  for await (const _ of new Turn(endless).yielding({ tracer })) break;
  expect(tracer.events.at(-1)).toMatchObject({ type: "turn.finished", stopReason: "cancelled" });
  expect(tracer.events.filter(({ type }) => type === "turn.finished")).toHaveLength(1);
});

describe("within()", () => {
  const current = new AsyncLocalStorage<string>();
  const within: NonNullable<Tracer["within"]> = (turnId, work) => current.run(turnId, work);

  test("is around the tool's function, also in each step of a stream", async () => {
    const seen: unknown[] = [];
    const plain = tool({ name: "plain", description: "", registry }, async () => {
      await new Promise((resolve) => setImmediate(resolve));
      seen.push(current.getStore());
    });
    const streams = tool({ name: "streams", description: "", registry }, async function* () {
      seen.push(current.getStore());
      yield 1;
      seen.push(current.getStore());
    });
    await new Turn(plain, {}, { uuid: "one" }).returning({ tracer: recorder({ within }) });
    await Array.fromAsync(new Turn(streams, {}, { uuid: "two" }).yielding({ tracer: recorder({ within }) }));
    expect(seen).toEqual(["one", "two", "two"]);
  });

  test.each<[string, NonNullable<Tracer["within"]>]>([
    [
      "throws before",
      () => {
        throw new Error("no span");
      },
    ],
    [
      "throws after",
      (_id, work) => {
        work();
        throw new Error("no span");
      },
    ],
    [
      "works twice",
      (_id, work) => {
        work();
        return work();
      },
    ],
    ["does not work", () => undefined as never],
    ["rejects", (() => Promise.reject(new Error("no span"))) as never],
  ])("that %s does not change what the tool does", async (_name, broken) => {
    let runs = 0;
    const counts = tool({ name: "counts", description: "", registry }, async () => ++runs);
    collectWarnings();
    const output = await counts.execute({}, { tracer: recorder({ within: broken }) });
    expect([output, runs]).toEqual([1, 1]);
  });
});

test("the tool's context passes the trace on", async () => {
  const tracer = recorder({ headers: (of) => ({ traceparent: JSON.stringify(of) }) });
  const outer = tool({ name: "outer", description: "", registry }, async (_, context) => {
    await add.execute({ a: 1 }, { ...(context.tracer && { tracer: context.tracer }) });
    return context.tracer?.headers?.({ turnId: context.turn.uuid });
  });
  const headers = await new Turn(outer, {}, { uuid: "one" }).returning({ tracer });
  expect(headers).toEqual({ traceparent: '{"turnId":"one"}' });
  expect(tracer.events.map((event) => [event.type, "name" in event && event.name])).toEqual([
    ["turn.started", "outer"],
    ["turn.started", "add"],
    ["turn.finished", false],
    ["turn.finished", false],
  ]);
  await outer.execute();
});

test("a tracer that is none is refused", async () => {
  const tracer = {} as Tracer;
  await expect(new Turn(add, { a: 1 }).returning({ tracer })).rejects.toThrow("tracer: expected");
});
