import { beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { InvalidTypeError } from "../errors.ts";
import { type AnyTool, InvalidInputError, literal, Registry, Turn, tool } from "../index.ts";
import { collectWarnings } from "../testkit/warnings.ts";

let registry: Registry;
beforeEach(() => {
  registry = new Registry();
});

const defineUntyped = tool as unknown as (options: object, fn: unknown) => AnyTool;

const input = { city: String, unit: String };

function weather(unit: string | (() => string | Promise<string>)) {
  return tool(
    { name: "weather", description: "d", input, fixed: { unit }, registry },
    async ({ city, unit }) => `${city} in ${unit}`,
  );
}

test("a fixed argument reaches the function on every run", async () => {
  const made = weather("C");
  expect(await made.execute({ city: "Rome" })).toBe("Rome in C");
  expect(await made.execute({ city: "Oslo" })).toBe("Oslo in C");
});

test("a fixed argument is validated with the rest of the input", async () => {
  const made = tool(
    { name: "t", description: "d", input, fixed: { unit: (() => 5) as unknown as string }, registry },
    async () => 1,
  );
  await expect(made.execute({ city: "Rome" })).rejects.toThrow("unit: expected string, got 5");
});

describe("a function as a fixed argument", () => {
  test("is called on each run, and the tool receives its result", async () => {
    let calls = 0;
    const made = weather(() => {
      calls += 1;
      return `unit ${calls}`;
    });
    expect(calls).toBe(0);
    expect(await made.execute({ city: "Rome" })).toBe("Rome in unit 1");
    expect(await made.execute({ city: "Rome" })).toBe("Rome in unit 2");
  });

  test("is awaited", async () => {
    expect(await weather(async () => "K").execute({ city: "Rome" })).toBe("Rome in K");
  });

  test("that throws fails the call, and the tool does not run", async () => {
    const made = weather(() => {
      throw new Error("no secret");
    });
    await expect(made.execute({ city: "Rome" })).rejects.toThrow("no secret");
  });

  test("is not called when code overrides it", async () => {
    collectWarnings();
    const made = weather(() => expect.unreachable("it was called"));
    expect(await new Turn("weather", { city: "Rome", unit: "F" }, { registry }).returning()).toBe(
      "Rome in F",
    );
    expect(made.metadata.endTime).not.toBeNull();
  });

  test("can be passed as it is, with literal()", async () => {
    const callback = () => "called back";
    const made = tool(
      {
        name: "t",
        description: "d",
        input: { callback: {} },
        fixed: { callback: literal(callback) },
        registry,
      },
      async ({ callback }) => callback,
    );
    expect(await made.execute({})).toBe(callback);
  });
});

describe("code", () => {
  test("may override a fixed argument, with a warning that names the key and the tool", async () => {
    const warnings = collectWarnings();
    weather("C");
    expect(await new Turn("weather", { city: "Rome", unit: "F" }, { registry }).returning()).toBe(
      "Rome in F",
    );
    expect(warnings).toEqual(["The fixed argument 'unit' of the tool 'weather' is overridden by this call."]);
  });

  test("that leaves it out, or gives undefined, gets it without a warning", async () => {
    const warnings = collectWarnings();
    weather("C");
    expect(await new Turn("weather", { city: "Rome" }, { registry }).returning()).toBe("Rome in C");
    const turn = new Turn("weather", { city: "Rome", unit: undefined }, { registry });
    expect(await turn.returning()).toBe("Rome in C");
    expect(warnings).toEqual([]);
  });
});

describe("a model", () => {
  test("cannot override a fixed argument: its value is dropped, without a warning", async () => {
    const warnings = collectWarnings();
    const made = weather("C");
    const turn = new Turn(made.name, { city: "Rome", unit: "F" }, { source: "model", registry });
    expect(await turn.returning()).toBe("Rome in C");
    expect(warnings).toEqual([]);
  });

  test("cannot even break the call with a value of the wrong type", async () => {
    weather("C");
    const turn = new Turn("weather", { city: "Rome", unit: 5 }, { source: "model", registry });
    expect(await turn.returning()).toBe("Rome in C");
  });

  test("gets the value of a lazy one neither", async () => {
    weather(async () => "K");
    const turn = new Turn("weather", { city: "Rome", unit: "F" }, { source: "model", registry });
    expect(await turn.returning()).toBe("Rome in K");
  });

  test("cannot override a fixed key that only additional properties allow", async () => {
    const made = tool(
      { name: "t", description: "d", input: { type: "object" }, fixed: { tenant: "a" }, registry },
      async (input) => input,
    );
    const turn = new Turn(made, { tenant: "b", other: 1 }, { source: "model" });
    expect(await turn.returning()).toEqual({ tenant: "a", other: 1 });
  });
});

describe("a model does not see a fixed argument", () => {
  const shown = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };

  test.each<[string, unknown]>([
    ["short form", input],
    [
      "JSON Schema",
      {
        type: "object",
        properties: { city: { type: "string" }, unit: { type: "string" } },
        required: ["unit", "city"],
      },
    ],
    ["Standard Schema", z.object({ city: z.string(), unit: z.string() })],
  ])("in toOpenAI() and the metadata: %s", (_, schema) => {
    const made = defineUntyped(
      { name: "weather", description: "d", input: schema, fixed: { unit: "C" }, registry },
      async () => 1,
    );
    expect(made.toOpenAI().function.parameters).toEqual(shown);
    expect(made.metadata.inputSchema).toEqual(shown);
  });
});

test("a model does not see a fixed argument in the alternatives of a union either", () => {
  const input = z.discriminatedUnion("kind", [
    z.object({ kind: z.literal("file"), path: z.string(), token: z.string() }),
    z.object({ kind: z.literal("page"), url: z.string(), token: z.string() }),
  ]);
  const made = defineUntyped(
    { name: "t", description: "d", input, fixed: { token: "secret" }, registry },
    async () => 1,
  );
  expect(JSON.stringify(made.toOpenAI())).not.toContain("token");
  expect(made.toOpenAI().function.parameters).toMatchObject({
    oneOf: [{ required: ["kind", "path"] }, { required: ["kind", "url"] }],
  });
});

describe("a fixed argument that the input has no place for", () => {
  const define = (input: unknown, fixed: object) => () =>
    defineUntyped({ name: "t", description: "d", input, fixed, registry }, async () => 1);

  test.each<[string, unknown]>([
    ["short form", { city: String }],
    ["JSON Schema", { type: "object", properties: { city: { type: "string" } } }],
    ["Standard Schema", z.object({ city: z.string() })],
  ])("is a TypeError that lists the parameters: %s", (_, input) => {
    expect(define(input, { unti: "C" })).toThrow(InvalidTypeError);
    expect(define(input, { unti: "C" })).toThrow(
      /^fixed\.unti: expected one of the tool's parameters city, got "C"/,
    );
    expect(registry.tools.all()).toEqual([]);
  });

  test("is a TypeError for a tool without input", () => {
    expect(define(undefined, { unit: "C" })).toThrow(
      /^fixed\.unit: expected no key, for the tool takes no input/,
    );
  });

  test("is not found among inherited properties", () => {
    expect(define({ city: String }, { constructor: "C" })).toThrow(InvalidTypeError);
  });

  test.each<[string, unknown]>([
    ["JSON Schema with additionalProperties", { type: "object", properties: {}, additionalProperties: true }],
    ["JSON Schema without properties", { type: "object" }],
    ["a loose Zod object", z.looseObject({ city: z.string().optional() })],
  ])("is fine where the schema allows other keys: %s", async (_, input) => {
    const made = define(input, { unit: "C" })();
    expect(made.fixed).toEqual({ unit: "C" });
    await expect(made.execute()).resolves.toBe(1);
  });
});

test("a missing parameter that is not fixed is still an error", async () => {
  weather("C");
  await expect(new Turn("weather", {}, { registry }).returning()).rejects.toThrow(InvalidInputError);
});

test("a fixed argument is hidden behind a reference too, and the definition stays for others", () => {
  const input = {
    $ref: "#/$defs/call",
    $defs: {
      call: {
        type: "object",
        properties: { path: { type: "string" }, key: { type: "string" } },
        required: ["path", "key"],
      },
    },
  };
  const call = tool(
    { name: "call", description: "Calls.", input, fixed: { key: "mine" }, registry: false },
    async () => 1,
  );
  expect(call.toOpenAI().function.parameters).toMatchObject({
    properties: { path: { type: "string" } },
    required: ["path"],
  });
  expect(call.toOpenAI().function.parameters.properties).not.toHaveProperty("key");
  expect(input.$defs.call.required).toEqual(["path", "key"]);
});
