import { describe, expect, test } from "vitest";
import { z } from "zod";
import { InvalidTypeError } from "../errors.ts";
import { InvalidInputError, type StandardSchema, tool } from "../index.ts";

type Standard<Input, Output> = StandardSchema<Input, Output>["~standard"];
interface Text {
  text: string;
}

const textSchema = { type: "object", properties: { text: { type: "string" } }, required: ["text"] };

/** A schema of `{ text }` that no library has made. It shouts. */
function handmade(changes: Partial<Standard<Text, Text>> = {}): StandardSchema<Text, Text> {
  return {
    "~standard": {
      version: 1,
      vendor: "handmade",
      validate: (value) => {
        const { text } = value as Partial<Text>;
        if (typeof text === "string") return { value: { text: text.toUpperCase() } };
        return { issues: [{ message: "must be a text.", path: ["text"] }] };
      },
      jsonSchema: {
        input: () => ({ $schema: "https://json-schema.org/draft/2020-12/schema", ...textSchema }),
      },
      ...changes,
    },
  };
}

describe("a Standard Schema of any vendor", () => {
  test("validates, and the tool receives the parsed input", async () => {
    const made = tool("t", "d", handmade(), ({ text }) => text);
    expect(await made.execute({ text: "loud" })).toBe("LOUD");
  });

  test("describes itself to models, without $schema", () => {
    expect(tool("t", "d", handmade(), () => 1).toOpenAI().function.parameters).toEqual(textSchema);
  });

  test("is asked for the draft that we send", () => {
    const asked: unknown[] = [];
    const input = (options: unknown) => {
      asked.push(options);
      return textSchema;
    };
    tool("t", "d", handmade({ jsonSchema: { input } }), () => 1);
    expect(asked).toEqual([{ target: "draft-2020-12" }]);
  });

  test("may be a function", async () => {
    const schema = Object.assign(() => {}, handmade());
    expect(await tool("t", "d", schema, ({ text }) => text).execute({ text: "a" })).toBe("A");
  });

  test("may validate asynchronously", async () => {
    const schema = handmade({
      validate: async (value) => {
        await Promise.resolve();
        return (value as Text).text === "ok"
          ? { value: { text: "fine" } }
          : { issues: [{ message: "not ok" }] };
      },
    });
    const made = tool("t", "d", schema, ({ text }) => text);
    expect(await made.execute({ text: "ok" })).toBe("fine");
    await expect(made.execute({ text: "ko" })).rejects.toThrow("Invalid input for the tool 't': not ok.");
  });

  test("reports issues in its own words, with the path", async () => {
    const made = tool("t", "d", handmade(), () => 1);
    const error = await made.execute({} as never).catch((error: unknown) => error);
    expect(error).toBeInstanceOf(InvalidInputError);
    expect(error).toMatchObject({
      issues: [{ path: "text", message: "must be a text" }],
      message: "Invalid input for the tool 't': text: must be a text.",
    });
  });

  test("may give a path of segments", async () => {
    const path = [{ key: "stops" }, { key: 2 }, "name"];
    const schema = handmade({ validate: () => ({ issues: [{ message: "no", path }] }) });
    await expect(tool("t", "d", schema, () => 1).execute({ text: "a" })).rejects.toThrow("stops[2].name: no");
  });
});

describe("a schema that cannot describe itself is refused at the definition", () => {
  const complaintAbout = (schema: StandardSchema<Text, Text>) => {
    try {
      tool("t", "d", schema, () => 1);
    } catch (error) {
      return error;
    }
    return undefined;
  };

  test("without jsonSchema: the error says what to do", () => {
    const error = complaintAbout(handmade({ jsonSchema: undefined }));
    expect(error).toBeInstanceOf(InvalidTypeError);
    expect((error as Error).message).toMatch(
      /^input: expected a schema that can be written as JSON Schema.*update handmade, use its adapter/,
    );
  });

  test("with a jsonSchema that throws: the error says why and what to do", () => {
    const cause = new Error("Dates are not JSON.");
    const input = () => {
      throw cause;
    };
    const error = complaintAbout(handmade({ jsonSchema: { input } }));
    expect(error).toBeInstanceOf(InvalidTypeError);
    expect(error).toMatchObject({ cause });
    expect((error as Error).message).toContain(
      "handmade says: Dates are not JSON. Use types that JSON can carry, or give plain JSON Schema.",
    );
  });

  test("Zod's dates are such a case", () => {
    expect(() => tool("t", "d", z.object({ when: z.date() }), () => 1)).toThrow(
      /zod says: Date cannot be represented in JSON Schema\. Use types/,
    );
  });

  test("as a parameter of the short form: the error names it", () => {
    expect(() => tool("t", "d", { when: z.date() }, () => 1)).toThrow(
      /^input\.when: expected a schema that can/,
    );
  });

  test("as an output: the error names it", () => {
    expect(() =>
      tool({ name: "t", description: "d", output: z.date(), registry: false }, async () => new Date()),
    ).toThrow(/^output: expected a schema that can/);
  });

  test("of something else than an object", () => {
    expect(() => tool("t", "d", z.string() as unknown as z.ZodObject, () => 1)).toThrow(
      /^input: expected a schema of an object.*wrap the value/,
    );
  });
});

describe("a Zod object", () => {
  const schema = z.object({
    city: z.string(),
    days: z.coerce.number().int().default(3),
    tags: z.array(z.string()).optional(),
  });

  test("validates, coerces and fills in defaults", async () => {
    const made = tool("t", "d", schema, (input) => input);
    expect(await made.execute({ city: "Rome", days: "5" })).toEqual({ city: "Rome", days: 5 });
    expect(await made.execute({ city: "Rome" })).toEqual({ city: "Rome", days: 3 });
  });

  test("says where and what was expected", async () => {
    const made = tool("t", "d", schema, () => 1);
    await expect(made.execute({ tags: [1] } as never)).rejects.toThrow(
      /city: .*expected string, received undefined; tags\[0\]: .*expected string, received number/,
    );
  });

  test("decides for itself about unknown keys: dropped, kept or refused", async () => {
    const input = { city: "Rome", other: 1 };
    const run = (schema: z.ZodObject) => tool("t", "d", schema, (parsed) => parsed).execute(input);
    expect(await run(z.object({ city: z.string() }))).toEqual({ city: "Rome" });
    expect(await run(z.looseObject({ city: z.string() }))).toEqual(input);
    await expect(run(z.strictObject({ city: z.string() }))).rejects.toThrow(/Unrecognized key: "other"/);
  });

  test("may have asynchronous checks", async () => {
    const even = z.object({ n: z.number().refine(async (n) => n % 2 === 0, "not even") });
    const made = tool("t", "d", even, ({ n }) => n);
    expect(await made.execute({ n: 2 })).toBe(2);
    await expect(made.execute({ n: 1 })).rejects.toThrow("n: not even");
  });

  test("may take arguments that JSON does not have, from code", async () => {
    const made = tool("t", "d", z.object({ anything: z.any() }), ({ anything }) => anything);
    const map = new Map();
    expect(await made.execute({ anything: map })).toBe(map);
  });
});
