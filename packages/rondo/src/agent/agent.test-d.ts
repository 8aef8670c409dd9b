import { describe, expectTypeOf, test } from "vitest";
import {
  Agent,
  type AgentOptions,
  type AnyTool,
  type Block,
  ContextItem,
  ollama,
  type ResultMessage,
  type Run,
  Turn,
  type TurnRetries,
  type TurnValue,
  tool,
} from "../index.ts";

const add = tool("add", "d", { a: Number, b: Number }, ({ a, b }) => a + b);
const count = tool("count", "d", { to: Number }, async function* ({ to }) {
  yield `${to}`;
});
const sum = tool("sum", "d", {}, async function* () {
  yield "so far";
  return { total: 1 };
});
const plan = tool("plan", "d", {}, (): Turn | string => new Turn("add", { a: 1, b: 2 }));
const note = tool("note", "d", {}, () => new ContextItem({ content: "noted" }));
const registry = false;
const name = "clerk";

describe("a run yields the values of the agent's tools", () => {
  test("that return one", () => {
    const agent = new Agent({ name, tools: [add], registry });
    expectTypeOf(agent.run()).toEqualTypeOf<Run<TurnValue<number>>>();
  });

  test("that stream, with and without a result", () => {
    const agent = new Agent({ name, tools: [count, sum], registry });
    expectTypeOf(agent.run()).toEqualTypeOf<Run<TurnValue<string | { total: number }>>>();
  });

  test("without turns and context items, which are routed", () => {
    const agent = new Agent({ name, tools: [plan, note], registry });
    expectTypeOf(agent.run()).toEqualTypeOf<Run<TurnValue<string>>>();
  });

  test("and the blocks and results of its model", () => {
    const agent = new Agent({ name, model: ollama("m"), tools: [add], registry });
    expectTypeOf(agent.run()).toEqualTypeOf<Run<TurnValue<number | Block<typeof add> | ResultMessage>>>();
  });

  test("or of any kind, where its tools are not known", () => {
    expectTypeOf(new Agent({ name, tools: ["add"], registry }).run()).toEqualTypeOf<Run<TurnValue>>();
    expectTypeOf(new Agent({ name, tools: [add, "other"], registry }).run()).toEqualTypeOf<Run<TurnValue>>();
    expectTypeOf(new Agent({ name, tools: [add] as AnyTool[] }).run()).toEqualTypeOf<Run<TurnValue>>();
    expectTypeOf(Agent.fromJSON({}).run()).toEqualTypeOf<Run<TurnValue>>();
  });

  test("also in a branch, which may have other tools", () => {
    const agent = new Agent({ name, tools: [add], registry });
    expectTypeOf(agent.branch("other").run()).toEqualTypeOf<Run<TurnValue<number>>>();
    expectTypeOf(agent.branch("other", { tools: [count] }).run()).toEqualTypeOf<Run<TurnValue<string>>>();
  });
});

test("every agent is an Agent", () => {
  expectTypeOf(new Agent({ name, tools: [add, count], registry })).toExtend<Agent>();
  expectTypeOf(new Agent({ name, model: ollama("m"), tools: [add], registry })).toExtend<Agent>();
});

test("retries are decided by the error and the turn, at once", () => {
  type ShouldRetry = NonNullable<TurnRetries["shouldRetry"]>;
  expectTypeOf<Parameters<ShouldRetry>>().toEqualTypeOf<[error: unknown, turn: Turn]>();
  expectTypeOf<ReturnType<ShouldRetry>>().toEqualTypeOf<boolean>();
  expectTypeOf<AgentOptions["retries"]>().toEqualTypeOf<TurnRetries | undefined>();
});

test("several turns at once give the same values", () => {
  const agent = new Agent({ name, tools: [add], registry, concurrency: 2 });
  expectTypeOf(agent.run()).toEqualTypeOf<Run<TurnValue<number>>>();
  expectTypeOf(agent.currentTurns).toEqualTypeOf<Turn[]>();
  expectTypeOf<AgentOptions["concurrency"]>().toEqualTypeOf<number | undefined>();
});
