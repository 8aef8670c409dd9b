import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readText } from "./testkit/read-all.ts";

const a1 = { name: "add", arguments: { a: 1 } };
const ping = { name: "ping", arguments: {} };

/** Text, the calls in it and what is left for the user. */
const dialects: [dialect: string, text: string, calls: unknown[], left?: string][] = [
  ["hermes", '<tool_call>{"name": "add", "arguments": {"a": 1}}</tool_call>', [a1]],
  [
    "hermes with text around it",
    'Sure.\n<tool_call>\n{"name": "add", "arguments": {"a": 1}}\n</tool_call>\nDone.',
    [a1],
    "Sure.\n\nDone.",
  ],
  [
    "hermes, two",
    '<tool_call>{"name":"add","arguments":{"a":1}}</tool_call>\n<tool_call>{"name":"ping","arguments":{}}</tool_call>',
    [a1, ping],
  ],
  [
    "hermes, two in one tag",
    '<tool_call>\n{"name":"add","arguments":{"a":1}}\n{"name":"ping"}\n</tool_call>',
    [a1, ping],
  ],
  ["hermes, never closed", '<tool_call>\n{"name": "add", "arguments": {"a": 1}}', [a1]],
  ["hermes, arguments first", '<tool_call>{"arguments": {"a": 1}, "name": "add"}</tool_call>', [a1]],
  [
    "hermes, arguments as a string",
    '<tool_call>{"name": "add", "arguments": "{\\"a\\": 1}"}</tool_call>',
    [a1],
  ],
  ["hermes, a brace too few", '<tool_call>{"name": "add", "arguments": {"a": 1}\n</tool_call>', [a1]],
  ["hermes, a brace too many", '<tool_call>{"name": "add", "arguments": {"a": 1}}}</tool_call>', [a1]],
  [
    "hermes, in a fence",
    '<tool_call>\n```json\n{"name": "add", "arguments": {"a": 1}}\n```\n</tool_call>',
    [a1],
  ],
  [
    "hermes, as servers write calls",
    '<tool_call>{"type": "function", "function": {"name": "add", "arguments": {"a": 1}}}</tool_call>',
    [a1],
  ],
  [
    "hermes, another case and a namespace",
    '<tool_call>{"name": "functions.ADD", "arguments": {"a": 1}}</tool_call>',
    [a1],
  ],
  [
    "hermes, markup in an argument",
    '<tool_call>{"name": "add", "arguments": {"a": "</tool_call>"}}</tool_call>',
    [{ name: "add", arguments: { a: "</tool_call>" } }],
  ],
  [
    "granite",
    '<|tool_call|>[{"name": "add", "arguments": {"a": 1}}, {"name": "ping", "arguments": {}}]',
    [a1, ping],
  ],
  ["granite 4", '<tool_call>[{"name": "add", "arguments": {"a": 1}}]</tool_call>', [a1]],
  ["nemotron", '<TOOLCALL>[{"name": "add", "arguments": {"a": 1}}]</TOOLCALL> ok', [a1], " ok"],
  ["phi", 'functools[{"name": "add", "arguments": {"a": 1}}]', [a1]],
  [
    "qwen coder",
    "<tool_call>\n<function=add>\n<parameter=a>\n1\n</parameter>\n</function>\n</tool_call>",
    [{ name: "add", arguments: { a: "1" } }],
  ],
  [
    "qwen coder, without the outer tag",
    "Now:\n<function=add>\n<parameter=a>\nx\ny\n</parameter>\n</function>\n</tool_call>",
    [{ name: "add", arguments: { a: "x\ny" } }],
    "Now:\n",
  ],
  [
    "qwen coder, two",
    "<function=add><parameter=a>1</parameter></function><function=ping></function>",
    [{ name: "add", arguments: { a: "1" } }, ping],
  ],
  [
    "qwen coder, a tag forgotten",
    "<function=add><parameter=a>1<parameter=b>2</parameter></function>",
    [{ name: "add", arguments: { a: "1", b: "2" } }],
  ],
  [
    "qwen coder, code as a value",
    "<function=add><parameter=a>if (x < y) {}</parameter></function>",
    [{ name: "add", arguments: { a: "if (x < y) {}" } }],
  ],
  ["llama 3.1, function tag", '<function=add>{"a": 1}</function>', [a1]],
  [
    "glm",
    "<tool_call>add\n<arg_key>a</arg_key>\n<arg_value>1</arg_value>\n</tool_call>",
    [{ name: "add", arguments: { a: "1" } }],
  ],
  [
    "glm, two",
    "<tool_call>add<arg_key>a</arg_key><arg_value>1</arg_value></tool_call><tool_call>ping</tool_call>",
    [{ name: "add", arguments: { a: "1" } }, ping],
  ],
  [
    "mistral",
    '[TOOL_CALLS][{"name": "add", "arguments": {"a": 1}}, {"name": "ping", "arguments": {}}]',
    [a1, ping],
  ],
  ["mistral, new", 'Ok. [TOOL_CALLS]add[ARGS]{"a": 1}[TOOL_CALLS]ping[ARGS]{}', [a1, ping], "Ok. "],
  ["mistral, with an id", '[TOOL_CALLS]add[CALL_ID]abcdefghi[ARGS]{"a": 1}</s>', [a1]],
  ["mistral, without [ARGS]", '[TOOL_CALLS]add{"a": 1}', [a1]],
  ["llama, python tag", '<|python_tag|>{"name": "add", "parameters": {"a": 1}}<|eom_id|>', [a1]],
  [
    "llama, python tag, two",
    '<|python_tag|>{"name": "add", "parameters": {"a": 1}}; {"name": "ping", "parameters": {}}',
    [a1, ping],
  ],
  ["bare JSON", '{"name": "add", "parameters": {"a": 1}}', [a1]],
  ["bare JSON, with a type", '\n{"type": "function", "name": "add", "parameters": {"a": 1}}\n', [a1]],
  [
    "bare JSON, two",
    '{"name": "add", "parameters": {"a": 1}}; {"name": "ping", "parameters": {}}',
    [a1, ping],
  ],
  [
    "bare JSON, a list",
    '[{"name": "add", "arguments": {"a": 1}}, {"name": "ping", "arguments": {}}]',
    [a1, ping],
  ],
  ["bare JSON after thinking", '<think>hm</think>\n\n{"name": "add", "parameters": {"a": 1}}', [a1]],
  ["pythonic", "[add(a=1), ping()]", [a1, ping]],
  [
    "pythonic, with text",
    "[add(a=\"x), y\", b=[1, {'k': True}], c=None)]",
    [{ name: "add", arguments: { a: "x), y", b: [1, { k: true }], c: null } }],
  ],
  ["lfm", "Ok <|tool_call_start|>[add(a=1)]<|tool_call_end|>\nthen", [a1], "Ok \nthen"],
  ["lfm, text after it", "<|tool_call_start|>[add(a=1)]<|tool_call_end|>Adding.", [a1], "Adding."],
  [
    "deepseek v3",
    '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>add\n```json\n{"a": 1}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
    [a1],
  ],
  [
    "deepseek v3.1",
    '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>add<｜tool▁sep｜>{"a": 1}<｜tool▁call▁end｜><｜tool▁call▁begin｜>ping<｜tool▁sep｜>{}<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
    [a1, ping],
  ],
  [
    "kimi",
    '<|tool_calls_section_begin|><|tool_call_begin|>functions.add:0<|tool_call_argument_begin|>{"a": 1}<|tool_call_end|><|tool_calls_section_end|>',
    [a1],
  ],
  ["gpt-oss", '<|channel|>commentary to=functions.add <|constrain|>json<|message|>{"a": 1}<|call|>', [a1]],
  [
    "minimax",
    '<minimax:tool_call>\n<invoke name="add">\n<parameter name="a">1</parameter>\n</invoke>\n<invoke name="ping">\n</invoke>\n</minimax:tool_call>',
    [{ name: "add", arguments: { a: "1" } }, ping],
  ],
];

/** What must come through unchanged, character for character. */
const lookalikes = [
  "The <tool_call tag opens a call.",
  "Write <tool_call> and then the JSON.",
  "<tool_call>{",
  "<tool_call>",
  "<tool_call>\n\n",
  '<tool_call>{"name": "unknown", "arguments": {}}</tool_call>',
  '<tool_call>{"no": "call"}</tool_call>',
  "a <function=add> in prose",
  "<function=add>",
  "<function=other><parameter=a>1</parameter></function>",
  "function <T>(x: T) => x < 3 && [x] || {x}",
  'Use `<tool_call>{"name": "add", "arguments": {"a": 1}}</tool_call>` for that.',
  '```xml\n<tool_call>{"name": "add", "arguments": {"a": 1}}</tool_call>\n```\n',
  '```json\n{"name": "add", "parameters": {"a": 1}}\n```\nThat is how.',
  'For example:\n```json\n{"name": "add", "parameters": {"a": 1}}\n```',
  '~~~\n[TOOL_CALLS]add[ARGS]{"a": 1}\n~~~\n',
  "1. First:\n   ````md\n   ```\n   <function=add><parameter=a>1</parameter></function>\n   ```\n   ````\n",
  'The tag "<tool_call>" opens.',
  "[link](https://example.org) and [1, 2]",
  "[TOOL_CALLS] is a token",
  "[TOOL_CALLS]nothing[ARGS]{}",
  "[TOOL",
  "[add]",
  "[add(1)]",
  "[add(a=1, a=2)]",
  "[add(a=1)] would add",
  "[]",
  "{}",
  '{"a": 1}',
  '{"name": "Alice", "parameters": {}}',
  '{"name": "add"}',
  '{"name": "add", "parameters": {"a": 1}} is how to call it',
  '{"name": "add", "parameters": {"a": 1}, "age": 3}',
  'The call is {"name": "add", "parameters": {"a": 1}}',
  "{ not json",
  "<|python_tag|>print(1)",
  "<｜tool▁calls▁begin｜> begins it",
  "functools.partial(add, 1)",
  "x < y > z << 1 ``` [[a]] {{b}}",
  "`<think>` and ```<think>``` are tags",
];

const merge = ({ text, thinking, calls }: { text: string; thinking: string; calls: unknown[] }) => ({
  text,
  thinking,
  calls,
});

/** Each by itself, halves of emoji too. */
const charsOf = (text: string) => text.split("");

/** Cuts a text into pieces, with empty and null deltas between them. */
const cutsOf = (text: string) =>
  fc
    .array(fc.tuple(fc.nat(text.length), fc.constantFrom([], [""], [null], [[]])), { maxLength: 12 })
    .map((marks) => {
      const sorted = marks.toSorted(([a], [b]) => a - b);
      const ends = [...sorted, [text.length, []] as const];
      let start = 0;
      return ends.flatMap(([end, between]) => {
        const piece = text.slice(start, end);
        start = end;
        return [piece, ...between];
      });
    });

describe("dialects", () => {
  test.each(dialects)("%s", (_, text, calls, left = "") => {
    const summary = readText([text]);
    expect(summary.calls.map((call) => ({ name: call.name, arguments: JSON.parse(call.arguments) }))).toEqual(
      calls,
    );
    expect(summary.text).toBe(left);
    expect(summary.calls.every(({ isTruncated }) => !isTruncated)).toBe(true);
    expect(summary.finishReason).toBe("tool_calls");
  });

  test.each(dialects)("%s: without tools it is text", (_, text) => {
    expect(readText([text], { toolNames: [], profile: { thinkTags: [] } })).toMatchObject({
      text,
      calls: [],
    });
  });

  test.each(dialects)("%s: any split gives the same", (_, text) => {
    const whole = merge(readText([text]));
    expect(merge(readText(charsOf(text)))).toEqual(whole);
    fc.assert(
      fc.property(cutsOf(text), (pieces) => {
        expect(merge(readText(pieces))).toEqual(whole);
      }),
      { numRuns: 30 },
    );
  });

  test.each([
    ['<tool_call>{"name": "add", "arguments": {"a": 1, "b"', '{"a": 1, "b"'],
    ['<tool_call>{"name": "add"', ""],
    ['{"name": "add", "parameters": {"a": 1', '{"a": 1'],
    ['[TOOL_CALLS]add[ARGS]{"a": 1', '{"a": 1'],
    ["<function=add><parameter=a>1</parameter><parameter=b>2", '{"a":"1"}'],
    ["<tool_call>add<arg_key>a</arg_key><arg_value>1", "{}"],
    ["<tool_call>add<arg_key>a</arg_key><arg_value>1</arg_value>\n ", '{"a":"1"}'],
    ["[add(a=1, b=", '{"a": 1}'],
  ])("%j is a call that was cut off", (text, args) => {
    expect(readText([text])).toMatchObject({
      text: "",
      calls: [{ name: "add", arguments: args, isTruncated: true }],
    });
  });
});

describe("calls before markup that is not a call", () => {
  test.each([
    [
      '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>add<｜tool▁sep｜>{"a": 1}<｜tool▁call▁end｜>',
      "<｜tool▁call▁begin｜>other<｜tool▁sep｜>{}<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
    ],
    [
      '<|tool_calls_section_begin|><|tool_call_begin|>add<|tool_call_argument_begin|>{"a": 1}<|tool_call_end|>',
      "<|tool_call_begin|>other<|tool_call_argument_begin|>{}<|tool_call_end|><|tool_calls_section_end|>",
    ],
    [
      '<|channel|>commentary to=functions.add<|message|>{"a": 1}<|call|>',
      "<|channel|>commentary to=functions.other<|message|>{}<|call|>",
    ],
    [
      '<minimax:tool_call><invoke name="add">{"a": 1}</invoke>',
      '\n<invoke name="other"></invoke></minimax:tool_call>',
    ],
    ['<tool_call>{"name": "add", "arguments": {"a": 1}}', '{"name": "other"}</tool_call>'],
  ])("%s is read, and the rest is text", (good, bad) => {
    for (const pieces of [[good + bad], charsOf(good + bad), [good, bad]]) {
      const { calls, text } = readText(pieces);
      expect(calls).toEqual([{ name: "add", arguments: '{"a": 1}', isTruncated: false }]);
      expect(text).toBe(bad);
    }
  });

  test("a list of calls is read as a whole, even when another dialect waited for the end of the text", () => {
    const text = "<|tool_call_begin|> <|tool_call_start|>[add(a=1), ping()]<|tool_call_end|>";
    for (const pieces of [[text], charsOf(text)]) {
      const { calls, text: left } = readText(pieces);
      expect(calls.map(({ name }) => name)).toEqual(["add", "ping"]);
      expect(left).toBe("<|tool_call_begin|> ");
    }
  });

  test.each([
    '<tool_call>{"arguments": {"text": "An example:\n',
    '[TOOL_CALLS][{"arguments": {"text": "An example: ',
    '{"parameters": {"text": "An example: ',
    '<tool_call>{"name": "other"}</tool_call> <tool_call>{"arguments": {"text": "An example: ',
    '[{"parameters": {"text": "An example: ',
  ])("in %j, which breaks off before its name, is not a call", (cut) => {
    const text = `${cut}<tool_call>{'name': 'add', 'arguments': {}}</tool_call>`;
    for (const pieces of [[text], charsOf(text)]) expect(readText(pieces)).toMatchObject({ text, calls: [] });
  });
});

describe("look-alikes", () => {
  test.each(lookalikes)("%j stays as it is", (text) => {
    expect(readText([text])).toMatchObject({ text, calls: [], thinking: "" });
    expect(readText(charsOf(text))).toMatchObject({ text, calls: [], thinking: "" });
  });

  test("any split gives the same", () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...lookalikes).chain((text) => fc.tuple(fc.constant(text), cutsOf(text))),
        ([text, pieces]) => {
          expect(readText(pieces)).toMatchObject({ text, calls: [], thinking: "" });
        },
      ),
      { numRuns: 500 },
    );
  });

  test("any mixture of markup that names no offered tool stays as it is", () => {
    const bits = fc.constantFrom(
      ..."<tool_call>|</tool_call>|<function=add>|<parameter=a>|</parameter>|</function>|[TOOL_CALLS]|[ARGS]".split(
        "|",
      ),
      ...'<arg_key>|</arg_key>|add|{|}|[|]|:|,|"|\'|`|```|\n| |\\|"name"|"add"|"arguments"|1|(|)|=|;'.split(
        "|",
      ),
      "<|python_tag|>",
      "<|tool_call|>",
      "<｜tool▁calls▁begin｜>",
      "<｜tool▁sep｜>",
      '{"name": "add", "arguments": {}}',
      "<",
      "[TOO",
      "é🙂",
    );
    fc.assert(
      fc.property(
        fc
          .array(bits, { maxLength: 30 })
          .chain((parts) => fc.tuple(fc.constant(parts.join("")), cutsOf(parts.join("")))),
        ([text, pieces]) => {
          const summary = readText(pieces, { toolNames: ["zzz"], profile: { thinkTags: [] } });
          expect(summary.calls).toEqual([]);
          expect(summary.text).toBe(text);
        },
      ),
      { numRuns: 1000 },
    );
  });

  test("any mixture of anything gives the same however it is split", () => {
    const bits = fc.constantFrom(
      ...dialects.map(([, text]) => text),
      ...lookalikes,
      ...'<think>|</think>|<tool_call>|</tool_call>|\n| |```|`|text|{|[|<|"'.split("|"),
    );
    fc.assert(
      fc.property(
        fc
          .array(bits, { maxLength: 6 })
          .chain((parts) => fc.tuple(fc.constant(parts.join("")), cutsOf(parts.join("")))),
        ([text, pieces]) => {
          expect(merge(readText(pieces))).toEqual(merge(readText([text])));
          expect(merge(readText(charsOf(text)))).toEqual(merge(readText([text])));
        },
      ),
      { numRuns: 1000 },
    );
  });

  test("only what could become markup is held back", () => {
    const { deltas } = readText(["a <", "b", " <tool_", "x"]);
    expect(deltas.map((delta) => (delta.type === "text.delta" ? delta.text : ""))).toEqual([
      "a ",
      "<b",
      " ",
      "<tool_x",
      "",
    ]);
  });
});

describe("think tags", () => {
  test.each([
    ["<think>hm</think>4", "hm", "4"],
    ["<think>\nhm\n\nso\n</think>\n\n4", "hm\n\nso", "4"],
    ["\n<think>\n\n</think>\n\n4", "", "4"],
    ["Well. <think>hm</think> 4", "hm", "Well. 4"],
    ["<think>hm", "hm", "hm"],
    ["<think>hm</thi", "hm</thi", "hm</thi"],
    ["<think>hm ", "hm ", "hm "],
    ["Well. <think>hm", "hm", "Well. "],
    ["<think>a</think><think>b</think>c", "ab", "c"],
    ["<think>`</tool_call>` {</think>4", "`</tool_call>` {", "4"],
    [
      '<think><tool_call>{"name":"add","arguments":{}}</tool_call></think>4',
      '<tool_call>{"name":"add","arguments":{}}</tool_call>',
      "4",
    ],
    ["so</think>4", "", "so4"],
    ["<think>a</think>The tag </think> closes", "a", "The tag </think> closes"],
  ])("%j", (text, thinking, left) => {
    for (const pieces of [[text], charsOf(text)])
      expect(readText(pieces)).toMatchObject({ thinking, text: left });
  });

  test("a closing tag that nothing opened is dropped with a warning that names the remedy", () => {
    const { text, warnings } = readText(["so", "</think>", "4"]);
    expect(text).toBe("so4");
    expect(warnings).toEqual([expect.stringContaining("startsThinking to true")]);
  });

  test.each([
    ["hm</think>\n\n4", "hm", "4"],
    ["<think>\nhm</think>4", "hm", "4"],
    ["hm", "hm", "hm"],
    ["</think>4", "", "4"],
    ["<thi", "<thi", "<thi"],
    ["<think><think>hm</think>4", "<think>hm", "4"],
    ['hm</think>{"name":"add","parameters":{"a":1}}', "hm", ""],
  ])("with a template that opens the tag: %j", (text, thinking, left) => {
    for (const pieces of [[text], charsOf(text)])
      expect(readText(pieces, { profile: { startsThinking: true } })).toMatchObject({ thinking, text: left });
  });

  test("other pairs of tags", () => {
    const profile = {
      thinkTags: [
        ["[THINK]", "[/THINK]"],
        ["<|channel|>analysis<|message|>", "<|end|>"],
      ] as const,
    };
    expect(readText(charsOf("[THINK]a[/THINK]b"), { profile })).toMatchObject({ thinking: "a", text: "b" });
    expect(readText(charsOf("<|channel|>analysis<|message|>a<|end|>b"), { profile })).toMatchObject({
      thinking: "a",
      text: "b",
    });
  });
});

test("long answers cost time in proportion to their length", () => {
  const json = JSON.stringify({ name: "add", arguments: { text: "<x> ` { [ ".repeat(20_000) } });
  const { calls } = readText(charsOf(`<tool_call>${json}</tool_call>`));
  expect(calls).toHaveLength(1);
  const prose = "a < b, [c], {d}, `e` ".repeat(10_000);
  expect(readText(charsOf(prose)).text).toBe(prose);
});
