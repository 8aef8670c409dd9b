import { beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { InvalidTypeError, UnregisteredToolError } from "../errors.ts";
import { type AnyTool, InvalidArgumentError, Registry, Turn, tool } from "../index.ts";

let registry: Registry;
let users: AnyTool;
beforeEach(() => {
  registry = new Registry();
  users = tool({ name: "manage_users", description: "Manages users.", registry }, async () => "users");
});

describe("a subtool", () => {
  test("goes by its full name, and not by its short one", async () => {
    const create = users.subtool({ name: "create_user", description: "Creates." }, async () => "created");
    expect(create.name).toBe("manage_users.create_user");
    expect(registry.tools.get("manage_users.create_user")).toBe(create);
    expect(() => registry.tools.get("create_user")).toThrow(UnregisteredToolError);
    expect(await new Turn("manage_users.create_user", {}, { registry }).returning()).toBe("created");
  });

  test("keeps its short name in its metadata", () => {
    const create = users.subtool({ name: "create_user", description: "Creates." }, async () => 1);
    expect(create.metadata.name).toBe("create_user");
  });

  test("belongs to its parent", () => {
    const create = users.subtool({ name: "create_user", description: "Creates." }, async () => 1);
    expect(create.parent).toBe(users);
    expect(users.subtools).toEqual([create]);
  });

  test("may have subtools of its own, with the full path as a name", () => {
    const roles = users.subtool({ name: "roles", description: "Roles." }, async () => 1);
    const grant = roles.subtool({ name: "grant", description: "Grants." }, async () => 1);
    expect(grant.name).toBe("manage_users.roles.grant");
    expect(registry.tools.get("manage_users.roles.grant")).toBe(grant);
    expect(grant.wireName).toBe("manage_users__roles__grant");
  });

  test("may have the short name of another parent's subtool, or of a root tool", () => {
    const teams = tool({ name: "manage_teams", description: "d", registry }, async () => 1);
    users.subtool({ name: "create", description: "d" }, async () => 1);
    teams.subtool({ name: "create", description: "d" }, async () => 1);
    tool({ name: "create", description: "d", registry }, async () => 1);
    expect(registry.tools.all().map(({ name }) => name)).toEqual([
      "manage_users",
      "manage_teams",
      "manage_users.create",
      "manage_teams.create",
      "create",
    ]);
  });

  test("cannot have the name of a sibling", () => {
    const first = users.subtool({ name: "create", description: "d" }, async () => 1);
    expect(() => users.subtool({ name: "create", description: "d" }, async () => 2)).toThrow(
      InvalidArgumentError,
    );
    expect(users.subtools).toEqual([first]);
  });

  test("of a tool that is not registered is not registered either, and its name is still checked", () => {
    const loose = tool("loose", "d", {}, () => 1);
    const child = loose.subtool({ name: "child", description: "d" }, async () => 1);
    expect(child.isRegistered).toBe(false);
    expect(child.name).toBe("loose.child");
    expect(() => loose.subtool({ name: "child", description: "d" }, async () => 2)).toThrow(
      "name: expected a name that no other subtool of 'loose' has",
    );
  });

  test("takes all options of a tool, and is a full tool", async () => {
    const create = users.subtool(
      {
        name: "create",
        description: "d",
        input: { name: String, role: String },
        fixed: { role: "guest" },
        lock: true,
        tags: ["write"],
        timeoutMs: 5_000,
        idempotent: true,
      },
      async ({ name, role }) => `${name} (${role})`,
    );
    expect(create).toMatchObject({
      timeoutMs: 5_000,
      isIdempotent: true,
      lock: { owner: expect.any(String) },
    });
    expect([...create.tags]).toEqual(["write"]);
    expect(await create.execute({ name: "Ann" })).toBe("Ann (guest)");
  });

  test("has a lock of its own", () => {
    const locked = tool({ name: "locked", description: "d", lock: true, registry }, async () => 1);
    const child = locked.subtool({ name: "child", description: "d", lock: true }, async () => 1);
    expect(child.lock).not.toBe(locked.lock);
  });

  test("is refused for the same reasons as a tool", () => {
    const define = users.subtool as (...args: unknown[]) => unknown;
    expect(() => define({ name: "sync", description: "d" }, () => 1)).toThrow(TypeError);
    expect(() => define({ name: "x", description: "d", fixed: { a: 1 } }, async () => 1)).toThrow(TypeError);
    expect(users.subtools).toEqual([]);
    expect(registry.tools.all()).toEqual([users]);
  });

  test("cannot be registered elsewhere than its parent", () => {
    const define = users.subtool as (...args: unknown[]) => unknown;
    expect(() => define({ name: "x", description: "d", registry: new Registry() }, async () => 1)).toThrow(
      "options.registry",
    );
  });

  test("whose full name is too long for a model is rejected, and not registered", () => {
    const name = "x".repeat(60);
    expect(() => users.subtool({ name, description: "d" }, async () => 1)).toThrow(
      "name: expected a full name of at most 64 characters as models see it",
    );
    expect(users.subtools).toEqual([]);
    expect(registry.tools.all()).toEqual([users]);
  });

  test("leaves the registry together with its parent", () => {
    users.subtool({ name: "create", description: "d" }, async () => 1);
    expect(registry.tools.unregister("manage_users")).toBe(true);
    expect(registry.tools.all()).toEqual([]);
  });
});

describe("docTree", () => {
  test("shows short names and descriptions, in the order of definition and to any depth", () => {
    const update = users.subtool({ name: "update", description: "Updates." }, async () => 1);
    users.subtool({ name: "create", description: "Creates." }, async () => 1);
    update.subtool({ name: "email", description: "Updates the email." }, async () => 1);
    expect(users.docTree()).toEqual({
      name: "manage_users",
      description: "Manages users.",
      subtools: [
        {
          name: "update",
          description: "Updates.",
          subtools: [{ name: "email", description: "Updates the email.", subtools: [] }],
        },
        { name: "create", description: "Creates.", subtools: [] },
      ],
    });
  });

  test("shows no times after a run", async () => {
    await users.execute();
    expect(Object.keys(users.docTree())).toEqual(["name", "description", "subtools"]);
  });

  test("of all root tools, sorted by name, is what a registry defines", () => {
    users.subtool({ name: "create", description: "Creates." }, async () => 1);
    tool({ name: "apple", description: "d", registry }, async () => 1);
    tool({ name: "zebra", description: "d", registry }, async () => 1);
    tool({ name: "Banana", description: "d", registry }, async () => 1);
    const definitions = registry.tools.definitions();
    expect(definitions.map(({ name }) => name)).toEqual(["Banana", "apple", "manage_users", "zebra"]);
    expect(definitions[2]?.subtools).toEqual([{ name: "create", description: "Creates.", subtools: [] }]);
  });
});

describe("toOpenAI", () => {
  test("has the shape that the chat-completions API wants", () => {
    const made = tool(
      "weather",
      "Tells the weather.",
      { city: String, days: { type: "integer", default: 1 } },
      () => 1,
    );
    expect(made.toOpenAI()).toEqual({
      type: "function",
      function: {
        name: "weather",
        description: "Tells the weather.",
        parameters: {
          type: "object",
          properties: { city: { type: "string" }, days: { type: "integer", default: 1 } },
          required: ["city"],
        },
      },
    });
  });

  test("of a tool without input has an empty object as parameters", () => {
    expect(users.toOpenAI().function.parameters).toEqual({ type: "object", properties: {}, required: [] });
  });

  test("cannot be used to change the tool's schema", async () => {
    const made = tool("t", "d", { type: "object", properties: { a: { type: "string" } } }, (input) => input);
    const properties = made.toOpenAI().function.parameters.properties as Record<string, unknown>;
    expect(() => {
      properties["b"] = {};
    }).toThrow(TypeError);
    expect(await made.execute({ a: "x", b: 1 } as { a: string })).toEqual({ a: "x" });
  });

  test("names a subtool without a dot", () => {
    const create = users.subtool({ name: "create_user", description: "d" }, async () => 1);
    expect(create.toOpenAI().function.name).toBe("manage_users__create_user");
  });

  test("has the input side of a Zod schema, without $schema", () => {
    const schema = z.object({ n: z.string().transform(Number), unit: z.enum(["C", "F"]).default("C") });
    expect(tool("t", "d", schema, () => 1).toOpenAI().function.parameters).toEqual({
      type: "object",
      properties: { n: { type: "string" }, unit: { type: "string", enum: ["C", "F"], default: "C" } },
      required: ["n"],
    });
  });
});

test.each([null, 5, [], new Date()])(
  "options that are no options are refused by execute(): %o",
  (options) => {
    const run = () => users.execute({}, options as never);
    expect(run).toThrow(InvalidTypeError);
    expect(run).toThrow("options: expected a plain object");
  },
);
