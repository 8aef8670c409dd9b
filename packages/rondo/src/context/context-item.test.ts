import { describe, expect, test } from "vitest";
import { InvalidJsonError, InvalidTypeError, UnregisteredToolError, UnserializableError } from "../errors.ts";
import { ContextItem, InvalidArgumentError, Registry, Turn, tool } from "../index.ts";

describe("a context item", () => {
  test("has no description and no id unless given", () => {
    const item = new ContextItem({ content: "Ada was born in 1815." });
    expect(item).toMatchObject({ content: "Ada was born in 1815.", description: null, id: null });
  });

  test("cannot be changed", () => {
    const item = new ContextItem({ content: 1, id: "a", description: "one" });
    for (const field of ["content", "description", "id"])
      expect(() => Object.assign(item, { [field]: "other" })).toThrow(TypeError);
    expect(item).toMatchObject({ content: 1, id: "a", description: "one" });
  });

  test.each([null, undefined, 0, "", false])("takes any content, also %s", (content) => {
    expect(new ContextItem({ content }).content).toBe(content);
  });

  test("takes an empty id and an empty description", () => {
    const item = new ContextItem({ content: 1, id: "", description: "" });
    expect(item).toMatchObject({ id: "", description: "" });
  });

  test("must be given a content", () => {
    expect(() => new ContextItem({} as never)).toThrow(InvalidTypeError);
    expect(() => new ContextItem({} as never)).toThrow("content: expected any value");
  });

  test.each([
    ["id", { content: 1, id: 7 }],
    ["description", { content: 1, description: 7 }],
    ["options", "text"],
    ["options", undefined],
  ])("refuses a wrong %s and names it", (field, options) => {
    expect(() => new ContextItem(options as never)).toThrow(InvalidTypeError);
    expect(() => new ContextItem(options as never)).toThrow(`${field}: expected`);
  });

  test("refuses an option that it does not know", () => {
    expect(() => new ContextItem({ content: 1, name: "a" } as never)).toThrow(InvalidArgumentError);
    expect(() => new ContextItem({ content: 1, name: "a" } as never)).toThrow("options.name");
  });
});

describe("two context items", () => {
  const item = (content: unknown, id: string | null = null, description: string | null = null) =>
    new ContextItem({ content, id, description });

  test("are equal when they say the same", () => {
    expect(item({ a: [1, new Date(5)] }, "x", "y").equals(item({ a: [1, new Date(5)] }, "x", "y"))).toBe(
      true,
    );
  });

  test("are equal whatever the order of the keys in their content", () => {
    const [one, other] = [item({ a: 1, b: { c: 2, d: 3 } }), item({ b: { d: 3, c: 2 }, a: 1 })];
    expect(one.equals(other)).toBe(true);
  });

  test.each([
    ["content", item(2, "x", "y")],
    ["kind of content", item("1", "x", "y")],
    ["id", item(1, "z", "y")],
    ["description", item(1, "x", "z")],
    ["lack of an id", item(1, null, "y")],
  ])("differ by their %s", (_what, other) => {
    expect(item(1, "x", "y").equals(other)).toBe(false);
  });

  test("with a content that cannot be saved are equal only if it is the same", () => {
    const content = () => 1;
    expect(item(content).equals(item(content))).toBe(true);
    expect(item(content).equals(item(() => 1))).toBe(false);
  });

  test.each([null, undefined, "text", { content: 1, id: null, description: null }])(
    "differ if one of them is %s",
    (other) => {
      expect(item(1).equals(other)).toBe(false);
    },
  );
});

describe("a saved context item", () => {
  test("is its id, its description and its content", () => {
    const item = new ContextItem({ content: { when: new Date(0) }, id: "a", description: "first" });
    expect(item.toJSON()).toEqual({
      id: "a",
      description: "first",
      content: { when: { $rondo: "date", value: "1970-01-01T00:00:00.000Z" } },
    });
  });

  test("is restored by its content alone", () => {
    const item = ContextItem.fromJSON({ content: "text" });
    expect(item.equals(new ContextItem({ content: "text" }))).toBe(true);
  });

  test("keeps a turn in its content, whose tool comes from the registry at hand", () => {
    const registry = new Registry();
    const look = tool({ name: "look", description: "", input: { at: String }, registry }, async () => 1);
    const item = new ContextItem({ content: [new Turn(look, { at: "sky" })] });
    const json: unknown = JSON.parse(JSON.stringify(item));
    const [turn] = ContextItem.fromJSON(json, { registry }).content as [Turn];
    expect(turn.tool).toBe(look);
    expect(turn.input).toEqual({ at: "sky" });
    expect(() => ContextItem.fromJSON(json)).toThrow(UnregisteredToolError);
  });

  test("finds tools that are in no registry among the given ones", () => {
    const look = tool("look", "", {}, () => 1);
    const json: unknown = JSON.parse(JSON.stringify(new ContextItem({ content: new Turn(look) })));
    const restored = ContextItem.fromJSON(json, { tools: [look] });
    expect((restored.content as Turn).tool).toBe(look);
  });

  test("says where in a larger whole a value cannot be saved", () => {
    const inner = new ContextItem({ content: { fn: () => 1 } });
    const outer = new ContextItem({ content: [inner] });
    expect(() => outer.toJSON()).toThrow("Cannot save content[0].content.fn:");
  });

  test("cannot hold what JSON would lose", () => {
    const item = new ContextItem({ content: { list: [() => 1] } });
    expect(() => item.toJSON()).toThrow(UnserializableError);
    expect(() => item.toJSON()).toThrow("content.list[0]");
  });

  test.each([
    ["contextItem", "text"],
    ["contextItem.content", { id: "a" }],
    ["contextItem.id", { content: 1, id: 7 }],
    ["contextItem.description", { content: 1, description: {} }],
    ["contextItem.content.a", { content: { a: { $rondo: "date", value: "soon" } } }],
    ["contextItem.version", { version: 2, content: 1 }],
  ])("that is malformed at %s is refused with that path", (path, json) => {
    expect(() => ContextItem.fromJSON(json)).toThrow(InvalidJsonError);
    expect(() => ContextItem.fromJSON(json)).toThrow(`Cannot read ${path}:`);
  });
});
