import { describe, expect, test } from "vitest";
import { Turn, tool } from "../index.ts";
import { valuesOf } from "../testkit/values-of.ts";
import { add, agentWith } from "./testkit/agent-kit.ts";

describe("pausing", () => {
  test("does not interrupt the turn under way; the next one waits for resume()", async () => {
    const pausing = tool("pausing", "Pauses.", {}, (_input, { agent }) => {
      agent?.pause();
      return "completed";
    });
    const agent = agentWith([pausing, add]);
    await agent.put(new Turn(pausing));
    await agent.put(new Turn(add, { a: 2, b: 2 }));
    const atGate = new Promise<void>((resolve) => {
      agent.onPause(async () => resolve());
    });
    const run = agent.run();
    expect((await run.next()).value?.[1]).toBe("completed");
    const second = run.next();
    await atGate;
    expect(agent.turns).toHaveLength(1);
    agent.resume();
    expect((await second).value?.[1]).toBe(4);
  });

  test("is idempotent, and onPause fires only if work is left", async () => {
    const agent = agentWith([add]);
    const seen: string[] = [];
    agent.onPause(async () => seen.push("pause"));
    agent.onResume(async () => seen.push("resume"));
    agent.pause();
    agent.pause();
    expect(agent.isPaused).toBe(true);
    expect(await valuesOf(agent.run())).toEqual([]);
    expect(seen).toEqual([]);
    agent.resume();
    agent.resume();
    expect(agent.isPaused).toBe(false);
  });

  test("allows put(), and run() waits at the gate", async () => {
    const agent = agentWith([add]);
    agent.pause();
    await agent.put(new Turn(add, { a: 1, b: 1 }));
    const paused = new Promise<void>((resolve) => {
      agent.onPause(async () => resolve());
    });
    const values = valuesOf(agent.run());
    await paused;
    await agent.put(new Turn(add, { a: 2, b: 2 }));
    expect(agent.turns).toHaveLength(2);
    agent.resume();
    expect(await values).toEqual([2, 4]);
  });

  test("a paused run can be aborted and left", async () => {
    const agent = agentWith([add]);
    agent.pause();
    await agent.put(new Turn(add, { a: 1, b: 1 }));
    const controller = new AbortController();
    const aborted = valuesOf(agent.run({ signal: controller.signal }));
    controller.abort(new Error("enough"));
    await expect(aborted).rejects.toThrow("enough");

    const left = agent.run();
    const pending = left.next();
    await left.return();
    expect((await pending).done).toBe(true);
    expect(agent.turns).toHaveLength(1);
    agent.resume();
    expect(await valuesOf(agent.run())).toEqual([2]);
  });
});
