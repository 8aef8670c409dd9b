import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { callChunks, chunkOf, readAll, type Summary } from "./testkit/read-all.ts";

const add = (args: unknown, more: object = {}) => ({ function: { name: "add", arguments: args }, ...more });
const more = (args: unknown, rest: object = {}) => ({ function: { arguments: args }, ...rest });

/** The calls, when each has a sound id of its own and its deltas add up. */
function callsOf({ deltas, calls, ids }: Summary): string[] {
  expect(new Set(ids).size).toBe(ids.length);
  for (const id of ids) {
    expect(id).toMatch(/\S/);
    const own = deltas.filter((delta) => "id" in delta && delta.id === id);
    expect(own[0]?.type).toBe("call.started");
    const ended = own.at(-1);
    if (ended?.type !== "call.ended") throw new Error("The last of a call is its end.");
    expect(own.map((delta) => (delta.type === "call.delta" ? delta.text : "")).join("")).toBe(
      ended.arguments,
    );
    expect(own[0]).toMatchObject({ name: ended.name });
  }
  return calls.map((call) => `${call.name}(${call.arguments})`);
}

const one = ['add({"a":1})'];
const two = ['add({"a":1})', 'add({"a":2})'];

describe("arguments as an object that JSON cannot say again", () => {
  const nested = (depth: number) => JSON.parse(`{"a":${"[".repeat(depth)}${"]".repeat(depth)}}`) as object;
  test.each([
    ["a number without end", JSON.parse('{"a":1e999}'), "add((a number that is too large))"],
    ["as deep as may be", nested(199), `add(${JSON.stringify(nested(199))})`],
    ["deeper than may be", nested(201), "add((JSON that is nested more than 200 levels deep))"],
    ["deeper than the stack", nested(100_000), "add((JSON that is nested more than 200 levels deep))"],
  ])("are neither changed nor left out: %s", (_, args, call) => {
    expect(callsOf(readAll(callChunks([add(args, { index: 0, id: "a" })])))).toEqual([call]);
  });
});

test("a name and an id without end are not kept", () => {
  const { calls, ids } = readAll(
    callChunks([{ index: 0, id: "i".repeat(100_000), name: "n".repeat(100_000), arguments: "{}" }]),
  );
  expect(calls[0]?.name).toBe("n".repeat(1024));
  expect(ids[0]).toMatch(/^call_\w{24}$/);
});

describe("one call, whatever says so", () => {
  test.each<[string, unknown[][]]>([
    ["id missing", [[add('{"a"', { index: 0 })], [more(":1}", { index: 0 })]]],
    ["id empty", [[add('{"a"', { index: 0, id: "" })], [more(":1}", { index: 0, id: "" })]]],
    ["id late", [[add('{"a"', { index: 0 })], [more(":1}", { index: 0, id: "late" })]]],
    ["id only in the first piece", [[add('{"a"', { index: 0, id: "a" })], [more(":1}", { index: 0 })]]],
    ["id new in each piece", [[add('{"a"', { index: 0, id: "a" })], [more(":1}", { index: 0, id: "b" })]]],
    [
      "id before the name",
      [[{ index: 0, id: "a" }], [add("", { index: 0 })], [more('{"a":1}', { index: 0 })]],
    ],
    ["index missing", [[add('{"a"', { id: "a" })], [more(":1}", { id: "a" })]]],
    ["index missing later", [[add('{"a"', { id: "a", index: 0 })], [more(":1}")]]],
    ["index missing at first", [[add('{"a"', { id: "a" })], [more(":1}", { index: 0 })]]],
    ["index and id missing", [[add('{"a"')], [more(":1}")]]],
    [
      "name in each piece",
      [[add('{"a"', { index: 0, id: "a" })], [add(":1}", { index: 0, id: "a" })], [add("", { index: 0 })]],
    ],
    [
      "name and new id in each piece",
      [[add('{"a"', { index: 0, id: "a" })], [add(":1}", { index: 0, id: "b" })]],
    ],
    ["name repeated before the arguments", [[add("", { index: 0 })], [add('{"a":1}', { index: 0 })]]],
    ["name late", [[more('{"a"', { index: 0, id: "a" })], [add(":1}", { index: 0 })]]],
    ["arguments as an object", [[add({ a: 1 }, { index: 0, id: "a" })]]],
    ["arguments null, then text", [[add(null, { index: 0, id: "a" })], [more('{"a":1}', { index: 0 })]]],
    ["flat", [[{ index: 0, name: "add", arguments: '{"a":1}' }]]],
    ["sent twice", [[add('{"a":1}', { index: 0, id: "a" })], [add('{"a":1}', { index: 0, id: "a" })]]],
    [
      "an object sent twice",
      [[add({ a: 1 }, { index: 0, id: "a" })], [add({ a: 1 }, { index: 0, id: "a" })]],
    ],
    ["index as text", [[add('{"a"', { index: "0" })], [more(":1}", { index: "0" })]]],
  ])("%s", (_, lists) => {
    expect(callsOf(readAll(callChunks(...lists)))).toEqual(one);
  });

  test("a name in pieces is put together before the call starts", () => {
    const piece = (name: string, args = "") => [{ index: 0, id: "a", function: { name, arguments: args } }];
    expect(callsOf(readAll(callChunks(piece("get_"), piece("wea"), piece("ther"), piece("", "{}"))))).toEqual(
      ["get_weather({})"],
    );
    expect(callsOf(readAll(callChunks(piece("get_"), piece("weather"))))).toEqual(["get_weather()"]);
    expect(callsOf(readAll(callChunks(piece("get_"), piece("get_weather", "{}"))))).toEqual([
      "get_weather({})",
    ]);
  });

  test("an id that is a number becomes text", () => {
    expect(readAll(callChunks([add("{}", { index: 0, id: 7 })])).ids).toEqual(["7"]);
  });

  test("a missing id is generated", () => {
    expect(readAll(callChunks([add("{}")])).ids[0]).toMatch(/^call_[0-9a-f]{24}$/);
  });

  test("a legacy function_call is a call", () => {
    const summary = readAll([
      chunkOf({ function_call: { name: "add", arguments: '{"a"' } }),
      chunkOf({ function_call: { arguments: ":1}" } }),
    ]);
    expect(callsOf(summary)).toEqual(one);
  });

  test("a call without a name ends without one", () => {
    expect(callsOf(readAll(callChunks([more("{}", { index: 0, id: "a" })])))).toEqual(["({})"]);
  });
});

describe("two calls, whatever says so", () => {
  test.each<[string, unknown[][]]>([
    [
      "by index",
      [
        [add('{"a"', { index: 0, id: "a" }), add('{"a"', { index: 1, id: "b" })],
        [more(":1}", { index: 0 }), more(":2}", { index: 1 })],
      ],
    ],
    [
      "by index, with the same id",
      [[add('{"a":1}', { index: 0, id: "a" })], [add('{"a":2}', { index: 1, id: "a" })]],
    ],
    ["by index, without ids", [[add('{"a":1}', { index: 0 })], [add('{"a":2}', { index: 1 })]]],
    [
      "by id, on one index",
      [[add('{"a":1}', { index: 0, id: "a" })], [add('{"a":2}', { index: 0, id: "b" })]],
    ],
    [
      "by id, on one index, in one list",
      [[add('{"a":1}', { index: 0, id: "a" }), add('{"a":2}', { index: 0, id: "b" })]],
    ],
    [
      "by id, without an index",
      [[add('{"a"', { id: "a" })], [more(":1}", { id: "a" })], [add('{"a":2}', { id: "b" })]],
    ],
    [
      "by the name after complete arguments",
      [[add('{"a":1}', { index: 0 })], [add('{"a":2}', { index: 0 })]],
    ],
    [
      "by the name, with the same id and index",
      [[add('{"a":1}', { index: 0, id: "a" })], [add('{"a":2}', { index: 0, id: "a" })]],
    ],
    ["by the name, without anything else", [[add('{"a":1}')], [add('{"a":2}')]]],
    ["in one list, without anything else", [[add('{"a":1}'), add('{"a":2}')]]],
    ["as objects in one list", [[add({ a: 1 }), add({ a: 2 })]]],
    ["in pieces, without anything else", [[add('{"a"')], [more(":1}")], [add('{"a"')], [more(":2}")]]],
  ])("%s", (_, lists) => {
    expect(callsOf(readAll(callChunks(...lists)))).toEqual(two);
  });

  test("calls without arguments in one list stay apart", () => {
    expect(callsOf(readAll(callChunks([add(""), add("")])))).toEqual(["add()", "add()"]);
    expect(
      callsOf(readAll(callChunks([add("", { index: 0 })], [{ index: 0, function: { name: "ping" } }]))),
    ).toEqual(["add()", "ping()"]);
  });
});

test("a call that is repeated in the text is emitted once", () => {
  const summary = readAll([
    ...callChunks([add('{"a": 1}', { index: 0, id: "a" })]),
    chunkOf({ content: '<tool_call>{"name":"add","arguments":{"a":1}}</tool_call>' }),
  ]);
  expect(callsOf(summary)).toEqual(['add({"a": 1})']);
});

test("however a call is cut into pieces, its deltas add up to its arguments", () => {
  const json = fc.json({ maxDepth: 2 }).map((value) => `{"value": ${value}}`);
  const cut = fc.tuple(json, fc.array(fc.nat(60), { maxLength: 6 })).map(([text, marks]) => {
    const places = [
      0,
      ...marks.map((mark) => Math.min(mark, text.length)).toSorted((a, b) => a - b),
      text.length,
    ];
    return places.slice(1).map((end, i) => text.slice(places[i], end));
  });
  const style = fc.constantFrom("index", "id", "both", "neither");
  fc.assert(
    fc.property(fc.array(cut, { minLength: 1, maxLength: 4 }), style, (calls, by) => {
      const identity = (i: number) => ({
        ...(by === "index" || by === "both" ? { index: i } : {}),
        ...(by === "id" || by === "both" ? { id: `id-${i}` } : {}),
      });
      const lists = calls.flatMap((pieces, i) =>
        pieces.map((piece, k) => [k === 0 ? add(piece, identity(i)) : more(piece, identity(i))]),
      );
      expect(callsOf(readAll(callChunks(...lists)))).toEqual(
        calls.map((pieces) => `add(${pieces.join("")})`),
      );
    }),
  );
});

describe("calls without number", () => {
  const many = 40_000;

  test.each([
    ["with an id each and no index", (i: number) => add("{}", { id: `id-${i}` })],
    ["with the same id", () => add("{}", { id: "same" })],
    ["with neither", () => add("{}")],
  ])("%s are each looked at once", (_, entry) => {
    const lists = Array.from({ length: many }, (_, i) => [entry(i)]);
    expect(readAll(callChunks(...lists)).calls).toHaveLength(many);
  });

  test("pieces of one call are looked at once each", () => {
    const pieces = Array.from({ length: many }, () => [more("x", { index: 0 })]);
    const { calls } = readAll(callChunks([add('{"a":"', { index: 0, id: "a" })], ...pieces));
    expect(calls[0]?.arguments).toHaveLength(many + 6);
  });

  test("are accepted up to a limit, from tool_calls or from text", () => {
    const sent = callChunks(Array.from({ length: 5 }, (_, i) => add("{}", { index: i, id: `id-${i}` })));
    const text = chunkOf({ content: '<tool_call>{"name":"ping","arguments":{}}</tool_call>'.repeat(5) });
    expect(readAll(sent, { maxCalls: 3 }).calls).toHaveLength(3);
    expect(readAll([text], { maxCalls: 3 }).calls).toHaveLength(3);
    expect(readAll([...sent, text], { maxCalls: 7 }).calls).toHaveLength(7);
  });

  test("a name without end is kept only as far as a name can be", () => {
    const lists = Array.from({ length: 10_000 }, () => [{ index: 0, function: { name: "name" } }]);
    const { calls } = readAll(callChunks([{ index: 0, function: { name: "other_" } }], ...lists));
    expect(calls).toHaveLength(1);
    expect(calls[0]?.name.length).toBeLessThan(2000);
  });
});
