import { afterEach, describe, expect, test } from "vitest";
import { InvalidTypeError, UnregisteredToolError } from "../errors.ts";
import {
  Agent,
  AgentRegistry,
  ContextPool,
  ContextQueue,
  defaultRegistry,
  HookRegistry,
  hook,
  Registry,
  ToolRegistry,
  Turn,
  tool,
} from "../index.ts";

afterEach(() => {
  for (const part of [ToolRegistry, AgentRegistry, HookRegistry]) part.clear();
});

describe("registry: false", () => {
  test("keeps a tool and its subtools out of every registry, so that a name can be used again", async () => {
    const make = (value: number) =>
      tool({ name: "look", description: "", registry: false }, async () => value);
    const [one, other] = [make(1), make(2)];
    const up = one.subtool({ name: "up", description: "" }, async () => 3);
    expect(ToolRegistry.all()).toEqual([]);
    expect([one, other, up].map(({ isRegistered }) => isRegistered)).toEqual([false, false, false]);
    expect(await Promise.all([one.execute(), other.execute(), up.execute()])).toEqual([1, 2, 3]);
  });

  test("keeps a turn from finding the tool by its name, but not by itself", () => {
    const look = tool({ name: "look", description: "", registry: false }, async () => 1);
    expect(() => new Turn("look")).toThrow(UnregisteredToolError);
    expect(new Turn(look).tool).toBe(look);
  });

  test("keeps an agent out of every registry", () => {
    const agents = [1, 2].map(() => new Agent({ name: "clerk", tools: [], registry: false }));
    expect(AgentRegistry.all()).toEqual([]);
    expect(agents.map(({ isRegistered }) => isRegistered)).toEqual([false, false]);
  });

  test("still fires the hooks of the default registry", async () => {
    const seen: string[] = [];
    hook(["tool.beforeInvoke", "turn.beforeRun", "agent.beforeTurn"], async () => seen.push("fired"));
    const look = tool({ name: "look", description: "", registry: false }, async () => 1);
    const agent = new Agent({ name: "clerk", tools: [look], registry: false });
    await agent.put(new Turn(look));
    await Array.fromAsync(agent.run());
    expect(look.registry).toBe(defaultRegistry);
    expect(seen).toHaveLength(3);
  });
});

describe("the short form of tool()", () => {
  test("registers nothing", () => {
    expect(tool("look", "", {}, () => 1).isRegistered).toBe(false);
    expect(ToolRegistry.all()).toEqual([]);
  });
});

describe("a turn", () => {
  test("belongs to the registry of its tool unless told otherwise", () => {
    const [registry, other] = [new Registry(), new Registry()];
    const look = tool({ name: "look", description: "", registry }, async () => 1);
    expect(new Turn(look).registry).toBe(registry);
    expect(new Turn(look, {}, { registry: other }).registry).toBe(other);
  });
});

describe("a registry that is none", () => {
  test.each<[string, (registry: never) => unknown]>([
    ["tool()", (registry) => tool({ name: "look", description: "", registry }, async () => 1)],
    ["an agent", (registry) => new Agent({ name: "clerk", tools: [], registry })],
    ["a queue", (registry) => new ContextQueue({ limit: 1, registry })],
    ["a pool", (registry) => new ContextPool({ registry })],
    ["hook()", (registry) => hook("turn.beforeRun", async () => {}, { registry })],
    [
      "a turn",
      (registry) =>
        new Turn(
          tool("look", "", {}, () => 1),
          {},
          { registry },
        ),
    ],
  ])("is refused by %s", (_who, make) => {
    for (const wrong of ["default", null, {}, true]) {
      expect(() => make(wrong as never)).toThrow(InvalidTypeError);
      expect(() => make(wrong as never)).toThrow("registry: expected a Registry");
    }
    expect([ToolRegistry.all(), AgentRegistry.all(), HookRegistry.all()]).toEqual([[], [], []]);
  });
});
