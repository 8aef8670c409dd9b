import { afterEach, describe, expect, test } from "vitest";
import {
  InvalidTypeError,
  UnregisteredAgentError,
  UnregisteredError,
  UnregisteredToolError,
} from "../errors.ts";
import {
  Agent,
  AgentRegistry,
  defaultRegistry,
  HookRegistry,
  hook,
  InvalidArgumentError,
  Registry,
  RondoError,
  ToolRegistry,
  Turn,
  tool,
} from "../index.ts";

let registry = new Registry();
afterEach(() => {
  registry = new Registry();
  for (const part of [ToolRegistry, AgentRegistry, HookRegistry]) part.clear();
});

function define(name: string, home: Registry | false = registry) {
  return tool({ name, description: `The tool ${name}.`, registry: home }, async () => name);
}

describe("the default registry", () => {
  test("is made of ToolRegistry, AgentRegistry and HookRegistry", () => {
    expect(defaultRegistry).toBeInstanceOf(Registry);
    expect(defaultRegistry.tools).toBe(ToolRegistry);
    expect(defaultRegistry.agents).toBe(AgentRegistry);
    expect(defaultRegistry.hooks).toBe(HookRegistry);
  });

  test("is where tools, agents and hooks go that name no other", () => {
    const made = tool({ name: "look", description: "" }, async () => 1);
    const agent = new Agent({ name: "clerk", tools: [made] });
    const followed = hook("turn.beforeRun", async () => {});
    expect(ToolRegistry.get("look")).toBe(made);
    expect(AgentRegistry.get("clerk")).toBe(agent);
    expect(HookRegistry.all()).toEqual([followed]);
  });

  test("is where turns look up their tools by name", () => {
    const made = tool({ name: "look", description: "" }, async () => 1);
    expect(new Turn("look").tool).toBe(made);
  });
});

describe("tools in a registry", () => {
  test("are found by the name under which they were defined", () => {
    const look = define("look");
    expect(registry.tools.get("look")).toBe(look);
    expect(registry.tools.has("look")).toBe(true);
    expect(look.isRegistered).toBe(true);
  });

  test("have each name once", () => {
    const first = define("look");
    expect(() => define("look")).toThrow(InvalidArgumentError);
    expect(() => define("look")).toThrow("The tool 'look' is already registered");
    expect(registry.tools.get("look")).toBe(first);
    expect(registry.tools.all()).toEqual([first]);
  });

  test("do not change when the same tool is registered again", () => {
    const look = define("look");
    registry.tools.register(look);
    expect(registry.tools.all()).toEqual([look]);
  });

  test("that do not exist are an error, which lists those that do", () => {
    define("look");
    define("listen");
    expect(() => registry.tools.get("smell")).toThrow(UnregisteredToolError);
    expect(() => registry.tools.get("smell")).toThrow(
      "The tool 'smell' was not found. Registered: look, listen.",
    );
    expect(registry.tools.has("smell")).toBe(false);
  });

  test("that do not exist are an error also in an empty registry", () => {
    expect(() => registry.tools.get("smell")).toThrow("None is registered.");
  });

  test("are looked up by a string, nothing else", () => {
    expect(() => registry.tools.get(undefined as never)).toThrow(InvalidTypeError);
    expect(() => registry.tools.get(7 as never)).toThrow("name: expected a string, got 7");
  });

  test("come in the order of their definition", () => {
    const tools = ["c", "a", "b"].map((name) => define(name));
    expect(registry.tools.all()).toEqual(tools);
  });

  test("are given as a copy", () => {
    const look = define("look");
    registry.tools.all().pop();
    expect(registry.tools.all()).toEqual([look]);
  });

  test("include subtools under their full names, not under their short ones", () => {
    const users = define("users");
    const create = users.subtool({ name: "create", description: "" }, async () => 1);
    const draft = create.subtool({ name: "draft", description: "" }, async () => 1);
    expect(registry.tools.get("users.create")).toBe(create);
    expect(registry.tools.get("users.create.draft")).toBe(draft);
    expect(() => registry.tools.get("create")).toThrow(UnregisteredToolError);
  });

  test("may have the same short name below two parents", () => {
    const subtools = ["users", "files"].map((name) =>
      define(name).subtool({ name: "create", description: "" }, async () => name),
    );
    expect(registry.tools.get("users.create")).toBe(subtools[0]);
    expect(registry.tools.get("files.create")).toBe(subtools[1]);
  });

  test("have unique full names, and a rejected subtool does not change its parent", () => {
    const users = define("users");
    users.subtool({ name: "create", description: "" }, async () => 1);
    const again = () => users.subtool({ name: "create", description: "" }, async () => 2);
    expect(again).toThrow(InvalidArgumentError);
    expect(users.subtools).toHaveLength(1);
    expect(registry.tools.all()).toHaveLength(2);
  });
});

describe("the definitions of a registry", () => {
  test("are the documentation trees of its root tools only, sorted by name", () => {
    const users = define("users");
    users.subtool({ name: "create", description: "Create one." }, async () => 1);
    users.subtool({ name: "all", description: "List them." }, async () => 1);
    define("files");
    expect(registry.tools.definitions()).toEqual([
      { name: "files", description: "The tool files.", subtools: [] },
      {
        name: "users",
        description: "The tool users.",
        subtools: [
          { name: "create", description: "Create one.", subtools: [] },
          { name: "all", description: "List them.", subtools: [] },
        ],
      },
    ]);
  });

  test("are none when it is empty", () => {
    expect(registry.tools.definitions()).toEqual([]);
  });
});

describe("unregistering a tool", () => {
  test("frees its name, and returns whether there was one", () => {
    define("look");
    expect(registry.tools.unregister("look")).toBe(true);
    expect(registry.tools.unregister("look")).toBe(false);
    const second = define("look");
    expect(registry.tools.get("look")).toBe(second);
  });

  test("forgets its subtools at every depth, and no others", () => {
    const users = define("users");
    const create = users.subtool({ name: "create", description: "" }, async () => 1);
    create.subtool({ name: "draft", description: "" }, async () => 1);
    const other = define("users_admin").subtool({ name: "create", description: "" }, async () => 1);
    registry.tools.unregister("users");
    expect(registry.tools.all().map(({ name }) => name)).toEqual(["users_admin", other.name]);
  });

  test("of a subtool keeps its parent", () => {
    const users = define("users");
    users.subtool({ name: "create", description: "" }, async () => 1);
    expect(registry.tools.unregister("users.create")).toBe(true);
    expect(registry.tools.all()).toEqual([users]);
  });

  test("does not affect existing turns", async () => {
    define("look");
    const turn = new Turn("look", {}, { registry });
    registry.tools.unregister("look");
    await expect(turn.returning()).resolves.toBe("look");
    expect(() => new Turn("look", {}, { registry })).toThrow(UnregisteredToolError);
  });

  test("happens for all of them by clear()", () => {
    define("look").subtool({ name: "up", description: "" }, async () => 1);
    registry.tools.clear();
    expect(registry.tools.all()).toEqual([]);
  });
});

describe("agents in a registry", () => {
  test("are found by name", () => {
    const agent = new Agent({ name: "clerk", tools: [], registry });
    expect(registry.agents.get("clerk")).toBe(agent);
    expect(registry.agents.all()).toEqual([agent]);
  });

  test("have each name once", () => {
    const first = new Agent({ name: "clerk", tools: [], registry });
    const again = () => new Agent({ name: "clerk", tools: [], registry });
    expect(again).toThrow(InvalidArgumentError);
    expect(again).toThrow("The agent 'clerk' is already registered");
    expect(registry.agents.get("clerk")).toBe(first);
  });

  test("that do not exist are an error", () => {
    expect(() => registry.agents.get("clerk")).toThrow(UnregisteredAgentError);
    expect(() => registry.agents.get("clerk")).toThrow("The agent 'clerk' was not found.");
  });

  test("can be unregistered by name, and are when they are disposed of", () => {
    const options = { name: "clerk", tools: [], registry };
    expect(new Agent(options).isRegistered).toBe(true);
    expect(registry.agents.unregister("clerk")).toBe(true);
    {
      using agent = new Agent(options);
      expect(registry.agents.get("clerk")).toBe(agent);
    }
    expect(registry.agents.all()).toEqual([]);
  });

  test("may have the name of a tool", () => {
    const look = define("look");
    const agent = new Agent({ name: "look", tools: [look], registry });
    expect(registry.agents.get("look")).toBe(agent);
  });
});

describe("two registries", () => {
  test("have the same names for different things", () => {
    const other = new Registry();
    const [here, there, everywhere] = [
      define("look", registry),
      define("look", other),
      define("look", defaultRegistry),
    ];
    expect(registry.tools.get("look")).toBe(here);
    expect(other.tools.get("look")).toBe(there);
    expect(ToolRegistry.get("look")).toBe(everywhere);
  });

  test("do not find each other's tools, agents and hooks", () => {
    define("look");
    const agent = new Agent({ name: "clerk", tools: [], registry });
    hook("turn.beforeRun", async () => {}, { registry });
    const other = new Registry();
    for (const elsewhere of [other, defaultRegistry])
      expect([elsewhere.tools.all(), elsewhere.agents.all(), elsewhere.hooks.all()]).toEqual([[], [], []]);
    expect(() => other.agents.get(agent.name)).toThrow(UnregisteredAgentError);
    expect(() => new Turn("look", {}, { registry: other })).toThrow(UnregisteredToolError);
  });

  test("are cleared one by one", () => {
    const other = new Registry();
    define("look", registry);
    define("look", other);
    registry.tools.clear();
    expect(other.tools.has("look")).toBe(true);
  });
});

describe("a name that no registry knows", () => {
  test("is in the error, which has a code and belongs to the family", () => {
    const missing = () => registry.tools.get("smell");
    expect(missing).toThrow(UnregisteredError);
    expect(missing).toThrow(RondoError);
    expect(missing).toThrow(expect.objectContaining({ code: "unregistered_tool", lookedUp: "smell" }));
  });
});

test.each([null, undefined, 5, {}, "look"])("registering %o is refused, and changes nothing", (thing) => {
  for (const part of [registry.tools, registry.agents, registry.hooks]) {
    const register = () => part.register(thing as never);
    expect(register).toThrow(InvalidTypeError);
    expect(register).toThrow(/^(tool|agent|hook): expected /);
    expect(part.all()).toEqual([]);
  }
});

test.each([null, 5, Symbol("s"), {}])("looking up %o is refused with a TypeError", (name) => {
  for (const part of [registry.tools, registry.agents, registry.hooks])
    expect(() => part.get(name as never)).toThrow("name: expected a string");
});
