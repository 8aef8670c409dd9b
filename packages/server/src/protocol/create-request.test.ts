import { describe, expect, test } from "vitest";
import { read, refusal, refusalOf, warningsOf } from "./testkit/requests.ts";

describe("a request", () => {
  test("has the defaults of the API", () => {
    expect(read({ model: "m" })).toEqual({
      model: "m",
      input: [{ type: "message", role: "user", content: "Hi" }],
      instructions: undefined,
      previous_response_id: undefined,
      conversation: undefined,
      stream: false,
      background: false,
      store: true,
      tools: [],
      tool_choice: "auto",
      allowed_tools: undefined,
      parallel_tool_calls: true,
      max_tool_calls: undefined,
      max_output_tokens: undefined,
      max_agentic_turns: undefined,
      temperature: undefined,
      top_p: undefined,
      presence_penalty: undefined,
      frequency_penalty: undefined,
      top_logprobs: undefined,
      text: { format: { type: "text" } },
      reasoning: { effort: null, summary: null },
      include: [],
      metadata: {},
      truncation: "disabled",
      service_tier: undefined,
      user: undefined,
      safety_identifier: undefined,
      prompt_cache_key: undefined,
      echo: { tool_choice: "auto", tools: undefined, instructions: null },
    });
  });

  test("takes null for absent in every field", () => {
    const { input: _text, echo: _echo, ...fields } = read({});
    const nulls = Object.fromEntries(Object.keys(fields).map((field) => [field, null]));
    expect(read(nulls)).toEqual(read({}));
    expect(read({ text: { format: null, verbosity: null }, reasoning: { effort: null } })).toEqual(read({}));
  });

  test("keeps the values that it is given", () => {
    const given = {
      model: "m",
      instructions: "Be brief.",
      previous_response_id: "resp_1",
      stream: true,
      background: true,
      parallel_tool_calls: false,
      max_tool_calls: 3,
      max_output_tokens: 5,
      max_agentic_turns: 2,
      temperature: 0.5,
      top_p: 0.9,
      presence_penalty: -2,
      frequency_penalty: 2,
      top_logprobs: 20,
      include: ["reasoning.encrypted_content"],
      truncation: "auto",
      service_tier: "flex",
      user: "u",
      safety_identifier: "s",
      prompt_cache_key: "k",
    };
    expect(read(given)).toMatchObject(given);
    expect(read(given).echo.instructions).toBe("Be brief.");
  });

  test("names a conversation by its id or as an object", () => {
    expect(read({ conversation: "conv_1" }).conversation).toBe("conv_1");
    expect(read({ conversation: { id: "conv_1" } }).conversation).toBe("conv_1");
  });

  test("may have no input if it continues another", () => {
    expect(refusal({ model: "m" })[0]).toBe("input");
    expect(refusal({ input: [] })[0]).toBe("input");
    expect(read({ input: undefined, previous_response_id: "resp_1" }).input).toEqual([]);
    expect(read({ input: [], conversation: "conv_1" }).input).toEqual([]);
  });

  test("has each value of include once", () => {
    expect(read({ include: ["a", "b", "a"] }).include).toEqual(["a", "b"]);
  });

  test("has metadata of strings, whatever plain values came", () => {
    const metadata = { a: "x", b: 1.5, c: true, d: null };
    expect(read({ metadata }).metadata).toEqual({ a: "x", b: "1.5", c: "true" });
  });

  test("cannot change what objects inherit", () => {
    const metadata = JSON.parse('{"a": "x", "__proto__": {"polluted": true}}');
    expect(read({ metadata }).metadata).toEqual({ a: "x" });
    expect({}).not.toHaveProperty("polluted");
  });
});

describe("the format of the answer", () => {
  const schema = { type: "object", properties: {} };

  test("is text, JSON, or JSON of a schema", () => {
    expect(read({ text: { verbosity: "low" } }).text).toEqual({ format: { type: "text" }, verbosity: "low" });
    expect(read({ text: { format: { type: "json_object" } } }).text.format).toEqual({ type: "json_object" });
    const format = { type: "json_schema", name: "n", schema, strict: true, description: "d" };
    expect(read({ text: { format } }).text.format).toEqual(format);
    const open = { type: "json_schema", name: "n", schema, strict: null, description: null };
    expect(read({ text: { format: open } }).text.format).toEqual({ type: "json_schema", name: "n", schema });
  });

  test("takes the old name of the reasoning's summary", () => {
    expect(read({ reasoning: { effort: "low", generate_summary: "auto" } }).reasoning).toEqual({
      effort: "low",
      summary: "auto",
    });
  });
});

describe("a request is refused with the field, what was expected and what came", () => {
  test.each([
    [null, null, "The body: expected an object, got null."],
    [[], null, "The body: expected an object, got an empty list."],
    ["text", null, 'The body: expected an object, got "text".'],
    [{ model: 5 }, "model", "model: expected a string, got 5."],
    [{ model: "" }, "model", 'model: expected a string that is not empty, got "".'],
    [{ input: 5 }, "input", "input: expected a string or a list, got 5."],
    [{ stream: "yes" }, "stream", 'stream: expected true or false, got "yes".'],
    [{ temperature: 3 }, "temperature", "temperature: expected a number of at most 2, got 3."],
    [{ top_p: -1 }, "top_p", "top_p: expected a number of at least 0, got -1."],
    [{ top_logprobs: 1.5 }, "top_logprobs", "top_logprobs: expected a whole number, got 1.5."],
    [
      { max_output_tokens: 0 },
      "max_output_tokens",
      "max_output_tokens: expected a number of at least 1, got 0.",
    ],
    [{ conversation: { id: 5 } }, "conversation.id", "conversation.id: expected a string, got 5."],
    [{ truncation: "on" }, "truncation", 'truncation: expected one of "auto", "disabled", got "on".'],
    [{ include: ["a", 5] }, "include[1]", "include[1]: expected a string, got 5."],
    [
      { metadata: { a: {} } },
      "metadata.a",
      "metadata.a: expected a string or a number or true or false, got an object.",
    ],
    [
      { text: { format: { type: "xml" } } },
      "text.format.type",
      'text.format.type: expected one of "text", "json_object", "json_schema", got "xml".',
    ],
    [
      { text: { format: { type: "json_schema", name: "n" } } },
      "text.format.schema",
      "text.format.schema: expected an object, got nothing.",
    ],
    [{ reasoning: "high" }, "reasoning", 'reasoning: expected an object, got "high".'],
    [{ user: { name: "x".repeat(100) } }, "user", "user: expected a string, got an object."],
    [
      { max_tool_calls: "x".repeat(100) },
      "max_tool_calls",
      `max_tool_calls: expected a number, got the text "${"x".repeat(57)}"….`,
    ],
  ])("%j", (body, param, message) => {
    expect(refusal(body)).toEqual([param, message]);
  });

  test("when it has more than 16 pairs of metadata", () => {
    const pairs = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, "v"]));
    expect(Object.keys(read({ metadata: pairs(16) }).metadata)).toHaveLength(16);
    expect(refusalOf({ metadata: pairs(17) })).toEqual([
      "metadata",
      "metadata: expected an object of at most 16 pairs, got an object.",
    ]);
  });

  test("when its metadata is longer than the API allows", () => {
    const longest = { k: "v".repeat(512), ["k".repeat(64)]: "v" };
    expect(read({ metadata: longest }).metadata).toEqual(longest);
    expect(refusalOf({ metadata: { k: "v".repeat(513) } })[0]).toBe("metadata.k");
    expect(refusalOf({ metadata: { ["k".repeat(65)]: "v" } })[0]).toBe("metadata");
  });

  test.each(["model", "previous_response_id", "conversation"])("when its %s is longer than any", (field) => {
    expect(read({ [field]: "x".repeat(256) })).toHaveProperty(field, "x".repeat(256));
    expect(refusalOf({ [field]: "x".repeat(257) })[0]).toBe(field);
  });

  test("when it names both a conversation and a previous response", () => {
    expect(refusalOf({ conversation: "conv_1", previous_response_id: "resp_1" })).toEqual([
      "conversation",
      "conversation: expected nothing as previous_response_id is given, got both. Send one of them.",
    ]);
  });

  test("when it is in the background and not stored", () => {
    expect(refusalOf({ background: true, store: false })[0]).toBe("store");
    expect(read({ background: true, store: true }).background).toBe(true);
    expect(read({ store: false }).store).toBe(false);
  });

  test("when it has too many items or tools, however broken they are", () => {
    const limits = { maxItems: 2, maxTools: 1 };
    expect(refusal({ input: [1, 2, 3] }, { limits })).toEqual([
      "input",
      "input: expected at most 2 items, got 3. Send fewer.",
    ]);
    expect(refusalOf({ tools: [1, 2] }, { limits })).toEqual([
      "tools",
      "tools: expected at most 1 tools, got 2. Send fewer.",
    ]);
    const tools = ["a", "b"].map((name) => ({ type: "function", name }));
    expect(refusalOf({ tools: [{ type: "namespace", name: "n", tools }] }, { limits })[1]).toContain("got 2");
  });

  test("when it is nested too deeply for the stack", () => {
    let deep: unknown = "x";
    for (let level = 0; level < 200_000; level++) deep = level % 2 ? [deep] : { deep };
    expect(refusal({ input: "x", unknown: deep })).toEqual([
      "unknown",
      "unknown: expected JSON that is at most 200 levels deep, got more. Send it less nested.",
    ]);
    expect(refusal(deep)[1]).toContain("200 levels deep");
  });

  test.each([
    ["input", [{ role: "user", content: Array(20_000).fill(5) }]],
    ["tools", [{ type: "namespace", name: "n", tools: Array(20_000).fill(5) }]],
    ["include", Array(20_000).fill(5)],
    ["metadata", Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`k${i}`, []]))],
    ["allowed_tools", Array(20_000).fill("f")],
  ])("when a list in %s is longer than anyone needs", (field, value) => {
    expect(refusalOf({ [field]: value })).toEqual([
      field,
      `${field}: expected at most 10000 entries in a list or an object, got 20000. Send fewer.`,
    ]);
  });

  test("at the first of very many faults", () => {
    const content = Array(500).fill(null);
    const input = Array.from({ length: 1000 }, () => ({ role: "user", content }));
    expect(refusal({ input })[0]).toBe("input[0].content[0]");
  });

  test("when it has too many fields", () => {
    const fields = Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`k${i}`, 1]));
    expect(refusal(fields)).toEqual([
      null,
      "The body: expected at most 10000 entries in a list or an object, got 20000. Send fewer.",
    ]);
  });

  test("with names that are cut when they are long", () => {
    const [param, message] = refusalOf({ metadata: { ["k".repeat(10_000)]: {} } });
    expect(param).toBe(`metadata.${"k".repeat(64)}`);
    expect(message.length).toBeLessThan(300);
  });
});

describe("an unknown part", () => {
  const body = {
    surprise: 1,
    input: [
      { role: "user", content: "Hi" },
      { type: "agent_message", id: "am_1", anything: [1] },
      { type: "agent_message" },
    ],
    tools: [{ type: "web_search" }, { type: "ours", name: "o" }],
    include: ["thoughts"],
    service_tier: "slow",
  };

  test("is ignored with one warning for each kind", () => {
    expect(warningsOf(body)).toEqual([
      'surprise: the field "surprise" is not known here and was ignored.',
      'input[1].type: the item type "agent_message" is not known here and was ignored.',
      'tools[0].type: the tool type "web_search" is not known here and was ignored.',
      'tools[1].type: the tool type "ours" is not known here and was ignored.',
      'include[0]: the value "thoughts" is not known here and was ignored.',
      'service_tier: the tier "slow" is not known here and was ignored.',
    ]);
    expect(read(body).service_tier).toBeUndefined();
  });

  test("is kept in the lists, for executors that know it", () => {
    expect(read(body).input[1]).toEqual({ type: "agent_message", id: "am_1", anything: [1] });
    expect(read(body).tools).toEqual(body.tools);
    const isKnownTool = ({ type }: { type: string }) => type === "ours";
    expect(warningsOf({ tools: body.tools }, { isKnownTool })).toHaveLength(1);
  });

  test("passes without a warning, also in strict mode, as an item that an executor makes", () => {
    const item = { type: "acme.search_call", id: "s_1", status: "completed", hits: [{ url: "u" }] };
    const isKnownItem = (type: string) => type === "acme.search_call";
    expect(read({ input: [item] }).input).toEqual([item]);
    expect(warningsOf({ input: [item] }, { isKnownItem, isStrict: true })).toEqual([]);
    expect(refusalOf({ input: [{ ...item, type: "other.call" }] }, { isKnownItem, isStrict: true })[0]).toBe(
      "input[0].type",
    );
  });

  test.each([
    [{ surprise: 1 }, "surprise"],
    [{ input: body.input }, "input[1].type"],
    [{ input: [{ role: "user", content: "Hi", mood: "good" }] }, "input[0].mood"],
    [{ tools: body.tools }, "tools[0].type"],
    [{ tools: [{ type: "function", name: "f", surprise: 1 }] }, "tools[0].surprise"],
    [{ include: body.include }, "include[0]"],
    [{ service_tier: "slow" }, "service_tier"],
  ])("is refused in strict mode: %j", (unknown, param) => {
    expect(refusalOf(unknown, { isStrict: true })[0]).toBe(param);
    expect(read(unknown)).toBeDefined();
  });

  test("is nothing that the API has, in strict mode", () => {
    const known = {
      input: [
        {
          type: "message",
          role: "assistant",
          content: "Hi",
          id: "m",
          status: "completed",
          phase: "commentary",
        },
        { id: "msg_1" },
      ],
      tools: [
        { type: "function", name: "f", description: "d", parameters: {}, strict: true, defer_loading: true },
      ],
      include: ["reasoning.encrypted_content"],
      service_tier: "auto",
      stream_options: { include_obfuscation: false },
      prompt_cache_retention: "24h",
    };
    expect(warningsOf(known, { isStrict: true })).toEqual([]);
  });
});
