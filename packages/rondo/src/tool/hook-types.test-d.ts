// What the functions of hooks get: global ones by their events, those of a tool by the tool.
import { describe, expectTypeOf, test } from "vitest";
import {
  type Agent,
  type ContextItem,
  type ContextPool,
  type ContextQueue,
  type Hook,
  type HookContext,
  type HookEvent,
  type HookEvents,
  hook,
  type StopReason,
  type Turn,
  tool,
} from "../index.ts";

type Input = Readonly<Record<string, unknown>>;

describe("a global hook", () => {
  test("gets the arguments of its event and then a context", () => {
    hook("tool.beforeInvoke", async (input, context) => {
      expectTypeOf(input).toEqualTypeOf<Input>();
      expectTypeOf(context).toEqualTypeOf<HookContext>();
    });
    hook("turn.onComplete", async (turn, stopReason, context) => {
      expectTypeOf(turn).toEqualTypeOf<Turn>();
      expectTypeOf(stopReason).toEqualTypeOf<StopReason>();
      expectTypeOf(context).toEqualTypeOf<HookContext>();
    });
    hook("agent.onTurnValue", async (agent, turn, value, context) => {
      expectTypeOf(agent).toEqualTypeOf<Agent>();
      expectTypeOf(turn).toEqualTypeOf<Turn>();
      expectTypeOf(value).toEqualTypeOf<unknown>();
      expectTypeOf(context).toEqualTypeOf<HookContext>();
    });
    hook("queue.afterAppend", async (appended, current, context) => {
      expectTypeOf(appended).toEqualTypeOf<readonly ContextItem[]>();
      expectTypeOf(current).toEqualTypeOf<readonly ContextItem[]>();
      expectTypeOf(context).toEqualTypeOf<HookContext>();
    });
    hook("pool.beforeClear", async (pool, current) => {
      expectTypeOf(pool).toEqualTypeOf<ContextPool>();
      expectTypeOf(current).toEqualTypeOf<ReadonlyMap<string, ContextItem>>();
    });
  });

  test("every event has its arguments", () => {
    expectTypeOf<HookEvents>().toEqualTypeOf<{
      "tool.beforeInvoke": [input: Input];
      "tool.onYield": [value: unknown];
      "tool.afterInvoke": [result: unknown];
      "tool.onError": [error: unknown];
      "turn.beforeRun": [turn: Turn];
      "turn.afterRun": [turn: Turn, output: unknown];
      "turn.onTimeout": [turn: Turn];
      "turn.onError": [turn: Turn, error: unknown];
      "turn.onComplete": [turn: Turn, stopReason: StopReason];
      "agent.beforeTurn": [agent: Agent];
      "agent.afterTurn": [agent: Agent, turn: Turn];
      "agent.onTurnValue": [agent: Agent, turn: Turn, value: unknown];
      "agent.beforePut": [agent: Agent, turn: Turn];
      "agent.afterPut": [agent: Agent, turn: Turn];
      "agent.onPause": [agent: Agent];
      "agent.onResume": [agent: Agent];
      "queue.beforeAppend": [
        queue: ContextQueue,
        incoming: readonly ContextItem[],
        current: readonly ContextItem[],
      ];
      "queue.afterAppend": [appended: readonly ContextItem[], current: readonly ContextItem[]];
      "queue.beforeClear": [queue: ContextQueue, current: readonly ContextItem[]];
      "queue.afterClear": [queue: ContextQueue];
      "queue.onEvict": [queue: ContextQueue, oldest: ContextItem];
      "pool.beforeAdd": [pool: ContextPool, item: ContextItem];
      "pool.afterAdd": [pool: ContextPool, item: ContextItem];
      "pool.beforeRemove": [pool: ContextPool, item: ContextItem];
      "pool.afterRemove": [pool: ContextPool, item: ContextItem];
      "pool.beforeClear": [pool: ContextPool, current: ReadonlyMap<string, ContextItem>];
      "pool.afterClear": [pool: ContextPool];
      "pool.onEvict": [pool: ContextPool, oldest: ContextItem];
    }>();
  });

  test("of several events gets the arguments of each", () => {
    hook(["agent.beforeTurn", "agent.afterTurn"], async (...args) => {
      expectTypeOf(args).toEqualTypeOf<
        [agent: Agent, context: HookContext] | [agent: Agent, turn: Turn, context: HookContext]
      >();
    });
    hook(["tool.afterInvoke", "tool.onError"], async (value, context) => {
      expectTypeOf(value).toEqualTypeOf<unknown>();
      expectTypeOf(context).toEqualTypeOf<HookContext>();
    });
  });

  test("knows its events", () => {
    const one = hook("tool.onError", async () => {});
    expectTypeOf(one).toEqualTypeOf<Hook<"tool.onError">>();
    const two = hook(["turn.beforeRun", "turn.onTimeout"], async () => {});
    expectTypeOf(two).toEqualTypeOf<Hook<"turn.beforeRun" | "turn.onTimeout">>();
    expectTypeOf(one).toExtend<Hook>();
  });

  test("refuses an event that there is not, and a function that is not asynchronous", () => {
    // @ts-expect-error -- there is no such event
    hook("tool.onFinish", async () => {});
    // @ts-expect-error -- one of them does not exist
    hook(["tool.onError", "tool.onFinish"], async () => {});
    // @ts-expect-error -- write `async`
    hook("tool.onError", () => {});
    // @ts-expect-error -- a turn is no agent
    hook("turn.beforeRun", async (agent: Agent) => void agent);
    expectTypeOf<"tool.onError">().toExtend<HookEvent>();
  });
});

describe("the hooks of a tool", () => {
  const add = tool("add", "d", { a: Number, b: Number }, ({ a, b }) => a + b);
  const count = tool("count", "d", { to: Number }, async function* ({ to }) {
    yield to;
  });
  const search = tool("search", "d", { query: String }, async function* () {
    yield { progress: 1 };
    return ["found"];
  });

  test("know its input", () => {
    add.beforeInvoke(async (input, context) => {
      expectTypeOf(input).toEqualTypeOf<{ a: number; b: number }>();
      expectTypeOf(context).toEqualTypeOf<HookContext>();
    });
  });

  test("know what the function gets: defaults and fixed arguments too", () => {
    const search = tool(
      {
        name: "s",
        description: "d",
        input: { q: String, key: String, n: { type: "integer", default: 1 } },
        fixed: { key: "k" },
      },
      async () => {},
    );
    search.beforeInvoke(async (input) => {
      expectTypeOf(input).toEqualTypeOf<{ q: string; key: string; n: number }>();
    });
  });

  test("know its result", () => {
    add.afterInvoke(async (result) => {
      expectTypeOf(result).toEqualTypeOf<number>();
    });
    // @ts-expect-error -- the result is a number
    add.afterInvoke(async (result: string) => void result);
  });

  test("know the values of a stream, and the list of them", () => {
    count.onYield(async (value) => {
      expectTypeOf(value).toEqualTypeOf<number>();
    });
    count.afterInvoke(async (values) => {
      expectTypeOf(values).toEqualTypeOf<number[]>();
    });
  });

  test("know the result of a stream that has one", () => {
    search.onYield(async (value) => {
      expectTypeOf(value).toEqualTypeOf<{ progress: number }>();
    });
    search.afterInvoke(async (result) => {
      expectTypeOf(result).toEqualTypeOf<string[]>();
    });
  });

  test("know nothing of an error", () => {
    add.onError(async (error) => {
      expectTypeOf(error).toEqualTypeOf<unknown>();
    });
  });

  test("know their event", () => {
    expectTypeOf(add.beforeInvoke(async () => {})).toEqualTypeOf<Hook<"tool.beforeInvoke">>();
    expectTypeOf(add.afterInvoke(async () => {})).toEqualTypeOf<Hook<"tool.afterInvoke">>();
  });
});
