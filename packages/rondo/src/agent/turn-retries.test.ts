import { getEventListeners } from "node:events";
import { describe, expect, test } from "vitest";
import { InvalidTypeError } from "../error/argument-errors.ts";
import {
  Agent,
  type AgentOptions,
  type AnyTool,
  ContextItem,
  InvalidArgumentError,
  type JsonObject,
  Turn,
  tool,
} from "../index.ts";
import { scriptedModel } from "../testing/index.ts";
import { valuesOf } from "../testkit/values-of.ts";
import { collectWarnings } from "../testkit/warnings.ts";
import { add } from "./testkit/agent-kit.ts";

const soon = { delayMs: 1 };
const broken = new Error("broken");

/** A tool that throws at its first attempts, and then returns which attempt it was. */
function failing(times: number, error: unknown = broken) {
  return tool("flaky", "Fails at first.", {}, (_input, { turn, attempt }) => {
    if (turn.attempts <= times) throw error;
    return attempt;
  });
}

function agentWith(options: Partial<AgentOptions> & Pick<AgentOptions, "tools">): Agent {
  return new Agent({ name: "worker", registry: false, ...options });
}

describe("a turn whose tool throws", () => {
  test("is run again as the same turn, before the turns behind it, and each attempt fires its hooks", async () => {
    const flaky = failing(2);
    const agent = agentWith({ tools: [flaky, add], retries: soon });
    const log: string[] = [];
    agent.onError(async (turn, error) => log.push(`${turn.attempts} ${(error as Error).message}`));
    agent.onComplete(async (turn, stopReason) => log.push(`${turn.tool.name} ${stopReason}`));
    agent.beforeTurn(async () => log.push("beforeTurn"));
    const keys = new Set<string>();
    flaky.beforeInvoke(async (_input, { turn }) => keys.add(turn?.uuid ?? ""));
    const turn = new Turn(flaky);
    await agent.put(turn);
    await agent.put(new Turn(add, { a: 1, b: 2 }));

    expect(await valuesOf(agent.run())).toEqual([3, 3]);
    expect([turn.attempts, turn.stopReason]).toEqual([3, "completed"]);
    expect(keys).toEqual(new Set([turn.uuid]));
    expect(log).toEqual([
      "beforeTurn",
      "1 broken",
      "flaky error",
      "2 broken",
      "flaky error",
      "flaky completed",
      "beforeTurn",
      "add completed",
    ]);
  });

  test("fails with the last error after the last attempt, and the rest stays queued", async () => {
    const agent = agentWith({ tools: [failing(9), add], retries: { ...soon, attempts: 2 } });
    const turn = new Turn(agent.tools[0] as AnyTool);
    await agent.put(turn);
    await agent.put(new Turn(add, { a: 1, b: 2 }));
    await expect(valuesOf(agent.run())).rejects.toBe(broken);
    expect(Turn.ofError(broken)).toBe(turn);
    expect([turn.attempts, turn.stopReason, agent.currentTurn]).toEqual([2, "error", null]);
    expect(await valuesOf(agent.run())).toEqual([3]);
  });

  test("has all attempts again when it is put again", async () => {
    const agent = agentWith({ tools: [failing(3)], retries: { ...soon, attempts: 2 } });
    const turn = new Turn(agent.tools[0] as AnyTool);
    await agent.put(turn);
    await expect(valuesOf(agent.run())).rejects.toBe(broken);
    await agent.put(turn);
    expect(await valuesOf(agent.run())).toEqual([4]);
  });

  test("has one attempt without the option", async () => {
    const agent = agentWith({ tools: [failing(1)] });
    await agent.put(new Turn(agent.tools[0] as AnyTool));
    await expect(valuesOf(agent.run())).rejects.toBe(broken);
  });

  test("is retried for a thrown value that is not an object", async () => {
    const agent = agentWith({ tools: [failing(1, "just text")], retries: soon });
    await agent.put(new Turn(agent.tools[0] as AnyTool));
    expect(await valuesOf(agent.run())).toEqual([2]);
  });

  test("is retried only if shouldRetry agrees, which gets the error and the turn", async () => {
    const asked: unknown[] = [];
    const agent = agentWith({
      tools: [failing(5)],
      retries: {
        ...soon,
        attempts: 5,
        shouldRetry: (error, turn) => {
          asked.push([error, turn.attempts]);
          return turn.attempts < 2;
        },
      },
    });
    await agent.put(new Turn(agent.tools[0] as AnyTool));
    await expect(valuesOf(agent.run())).rejects.toBe(broken);
    expect(asked).toEqual([
      [broken, 1],
      [broken, 2],
    ]);
  });

  test("fails with a clear error if shouldRetry does not return a boolean", async () => {
    const shouldRetry = (async () => true) as unknown as () => boolean;
    const agent = agentWith({ tools: [failing(1)], retries: { ...soon, shouldRetry } });
    await agent.put(new Turn(agent.tools[0] as AnyTool));
    await expect(valuesOf(agent.run())).rejects.toThrow(InvalidTypeError);
  });
});

describe("one attempt only", () => {
  const attemptsOf = async (agent: Agent, turn: Turn) => {
    await agent.put(turn);
    const error: unknown = await valuesOf(agent.run()).catch((reason: unknown) => reason);
    expect(Turn.ofError(error)).toBe(turn);
    return turn.attempts;
  };

  test("has a turn with an invalid input", async () => {
    const agent = agentWith({ tools: [add], retries: soon });
    expect(await attemptsOf(agent, new Turn(add as AnyTool, { a: "x", b: 1 }))).toBe(1);
  });

  test("has a turn that a hook blocked, or whose error a hook replaced", async () => {
    const blocked = new Turn(failing(0));
    blocked.beforeRun(async () => {
      throw new Error("not allowed");
    });
    expect(await attemptsOf(agentWith({ tools: [blocked.tool], retries: soon }), blocked)).toBe(1);

    collectWarnings();
    const replaced = new Turn(failing(1));
    replaced.onError(async () => {
      throw new Error("give up");
    });
    expect(await attemptsOf(agentWith({ tools: [replaced.tool], retries: soon }), replaced)).toBe(1);
  });

  test("has a turn that timed out: its tool may still be running", async () => {
    const hang = tool(
      "hang",
      "Hangs.",
      {},
      (_input, { signal }) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener("abort", () => reject(signal.reason), { once: true });
        }),
    );
    const turn = new Turn(hang, {}, { timeoutMs: 1 });
    expect(await attemptsOf(agentWith({ tools: [hang], retries: soon }), turn)).toBe(1);
  });

  test("has a completion check that does not return a boolean", async () => {
    const check = tool(
      { name: "check", description: "Checks.", type: "completion_check", registry: false },
      async () => "yes" as unknown as boolean,
    );
    const turn = new Turn(check);
    expect(await attemptsOf(agentWith({ tools: [check], retries: soon }), turn)).toBe(1);
  });

  test("has a prompt: the model has retries of its own", async () => {
    let requests = 0;
    const model = scriptedModel([
      () => {
        requests += 1;
        throw broken;
      },
    ]);
    const agent = agentWith({ model, tools: [], retries: soon });
    await agent.ask("Go");
    await expect(valuesOf(agent.run())).rejects.toBe(broken);
    expect(requests).toBe(1);
  });
});

describe("a stream that throws", () => {
  const streaming = (valuesBefore: number) =>
    tool("stream", "Streams.", {}, async function* (_input, { attempt }) {
      for (let n = 0; n < valuesBefore; n += 1) yield `value ${n}`;
      if (attempt === 1) throw broken;
      yield "done";
    });

  test("is retried before its first value", async () => {
    const agent = agentWith({ tools: [streaming(0)], retries: soon });
    await agent.put(new Turn(agent.tools[0] as AnyTool));
    expect(await valuesOf(agent.run())).toEqual(["done"]);
  });

  test.each([false, true])("is not retried after it, with a lock: %s", async (lock) => {
    const stream = tool(
      { name: "stream", description: "Streams.", lock, registry: false },
      async function* () {
        yield new ContextItem({ content: "routed" });
        throw broken;
      },
    );
    const agent = agentWith({ tools: [stream], retries: soon });
    const turn = new Turn(stream);
    await agent.put(turn);
    await expect(valuesOf(agent.run())).rejects.toBe(broken);
    expect([turn.attempts, agent.contextQueue.size]).toEqual([1, 1]);
  });
});

describe("the wait for the next attempt", () => {
  const never = { delayMs: Number.POSITIVE_INFINITY, maxDelayMs: Number.POSITIVE_INFINITY };

  /** Runs until the first attempt failed and the agent waits. */
  async function waiting(agent: Agent, signal?: AbortSignal) {
    const failed = Promise.withResolvers<void>();
    agent.onComplete(async () => failed.resolve());
    const run = agent.run(signal ? { signal } : {});
    const pending = run.next();
    pending.catch(() => {});
    await failed.promise;
    await new Promise((resolve) => setImmediate(resolve));
    return { run, pending };
  }

  test("ends at once when the run is left: the turn keeps its outcome, and the rest stays queued", async () => {
    const agent = agentWith({ tools: [failing(1), add], retries: never });
    const turn = new Turn(agent.tools[0] as AnyTool);
    await agent.put(turn);
    await agent.put(new Turn(add, { a: 1, b: 2 }));
    const { run, pending } = await waiting(agent);
    expect(agent.currentTurn).toBe(turn);
    await run.return();
    expect((await pending).done).toBe(true);
    expect([turn.stopReason, turn.isRunning, agent.isRunning]).toEqual(["error", false, false]);
    expect(await valuesOf(agent.run())).toEqual([3]);
  });

  test("ends with the reason of an abort, and leaves no listener", async () => {
    const agent = agentWith({ tools: [failing(1)], retries: never });
    await agent.put(new Turn(agent.tools[0] as AnyTool));
    const controller = new AbortController();
    const { pending } = await waiting(agent, controller.signal);
    controller.abort(new Error("enough"));
    await expect(pending).rejects.toThrow("enough");
    expect(getEventListeners(controller.signal, "abort")).toEqual([]);
  });

  test("does not hold the tool's lock", async () => {
    const locked = tool(
      { name: "locked", description: "Locked.", lock: true, registry: false },
      async (_input, { agent }) => {
        if (agent) throw broken;
        return "free";
      },
    );
    const agent = agentWith({ tools: [locked], retries: never });
    await agent.put(new Turn(locked));
    const { run } = await waiting(agent);
    expect(await locked.execute()).toBe("free");
    await run.return();
  });

  test("can be saved, as can the failed attempt's hooks: the restored agent runs the turn again", async () => {
    const flaky = failing(1);
    const agent = agentWith({ tools: [flaky, add], retries: never });
    await agent.put(new Turn(flaky));
    await agent.put(new Turn(add, { a: 1, b: 2 }));
    const snapshots: JsonObject[] = [];
    agent.onError(async () => snapshots.push(agent.toJSON()));
    const { run } = await waiting(agent);
    snapshots.push(agent.toJSON());
    await run.return();
    expect(snapshots).toHaveLength(2);
    for (const snapshot of snapshots) {
      const restored = Agent.fromJSON(JSON.parse(JSON.stringify(snapshot)), {
        tools: [flaky, add],
        registry: false,
        retries: soon,
      });
      expect(restored.currentTurn?.attempts).toBe(1);
      expect(await valuesOf(restored.run())).toEqual([2, 3]);
    }
    expect(agent.toJSON()["currentTurn"]).toBeNull();
  });
});

test("a branch has the same retries", async () => {
  const agent = agentWith({ tools: [failing(1)], retries: soon });
  await agent.put(new Turn(agent.tools[0] as AnyTool));
  expect(await valuesOf(agent.branch("other").run())).toEqual([2]);
});

test.each([
  [{ attempts: 0 }, InvalidArgumentError],
  [{ attempts: "3" }, InvalidTypeError],
  [{ delayMs: -1 }, InvalidArgumentError],
  [{ factor: 0.5 }, InvalidArgumentError],
  [{ shouldRetry: true }, InvalidTypeError],
  [{ tries: 3 }, InvalidArgumentError],
  [3, InvalidTypeError],
])("rejects %j as retries", (retries, error) => {
  expect(() => agentWith({ tools: [], retries: retries as never })).toThrow(error);
});
