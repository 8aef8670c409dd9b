// What models of each family write, with and without the special tokens that a server may strip, and what only talks
// about it. Each text is read whole, in single characters and in random pieces.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readText } from "./testkit/read-all.ts";
import { knownThinkTags } from "./think-tags.ts";

type Call = [name: string, input: unknown];
const a1: Call = ["add", { a: 1 }];
const a1Text: Call = ["add", { a: "1" }];
const ping: Call = ["ping", {}];
const m3 = "]<]minimax[>[";

/** Text, the calls in it, what is left for the user, and the thinking. */
const calling: [family: string, text: string, calls: Call[], left?: string, thinking?: string][] = [
  ["gemma 4", "Sure.<|tool_call>call:add{a:1}<tool_call|>", [a1], "Sure."],
  [
    "gemma 4, text",
    '<|tool_call>call:add{a:<|"|>x, "y" {z}: [<|"|>}<tool_call|>',
    [["add", { a: 'x, "y" {z}: [' }]],
  ],
  ["gemma 4, quotation marks", '<|tool_call>call:add{a:"x\\"y"}<tool_call|>', [["add", { a: 'x"y' }]]],
  [
    "gemma 4, nested",
    '<|tool_call>call:add{a:{b:[1,<|"|>x<|"|>,true],c:null},d:{}}<tool_call|><|tool_call>call:ping{}<tool_call|>',
    [["add", { a: { b: [1, "x", true], c: null }, d: {} }], ping],
  ],
  ["gemma 4, before the result", "<|tool_call>call:ping{}<tool_call|><|tool_response>", [ping]],
  [
    "gemma 4, thinking",
    "<|channel>thought\nhm<channel|><|tool_call>call:ping{}<tool_call|>",
    [ping],
    "",
    "hm",
  ],
  ["gemma 4, stripped", "call:add{a:Paris}", [["add", { a: "Paris" }]]],
  ["functiongemma", "<start_function_call>call:add{a:<escape>1<escape>}<end_function_call>", [a1Text]],
  ["gemma 3, tool_code", "Let me see.\n```tool_code\nadd(a=1)\n```", [a1], "Let me see.\n"],
  ["gemma 3, tool_code that prints", "```tool_code\nprint(add(a=1))\nprint(ping())\n```", [a1, ping]],
  [
    "deepseek v3.2",
    '<｜DSML｜function_calls>\n<｜DSML｜invoke name="add">\n<｜DSML｜parameter name="a" string="false">1</｜DSML｜parameter>\n</｜DSML｜invoke>\n<｜DSML｜invoke name="ping"/>\n</｜DSML｜function_calls>',
    [a1, ping],
  ],
  [
    "deepseek v4, its token stripped",
    '<tool_calls>\n<invoke name="add">\n<parameter name="a" string="true">1</parameter>\n</invoke>\n</tool_calls>',
    [a1Text],
  ],
  ["deepseek v3, stripped", 'functionadd\n```json\n{"a": 1}\n```', [a1]],
  ["olmo 3", "<function_calls>add(a=1)\nping()</function_calls>", [a1, ping]],
  ["kimi k2, stripped", 'functions.add:0{"a": 1}functions.ping:1{}', [a1, ping]],
  [
    "kimi k3",
    '<|open|>think<|sep|>hm<|close|>think<|sep|><|open|>response<|sep|>On it.<|close|>response<|sep|><|open|>tools<|sep|><|open|>call tool="add" index="1"<|sep|><|open|>argument key="a" type="number"<|sep|>1<|close|>argument<|sep|><|close|>call<|sep|><|close|>tools<|sep|><|close|>message<|sep|>',
    [a1],
    "On it.",
    "hm",
  ],
  [
    "minimax m1",
    '<tool_calls>\n{"name": "add", "arguments": {"a": 1}}\n{"name": "ping", "arguments": {}}\n</tool_calls>',
    [a1, ping],
  ],
  [
    "minimax m3, nested",
    `<mm:think>hm</mm:think>${m3}<tool_call>\n${m3}<invoke name="add">${m3}<a>${m3}<item>x${m3}</item>${m3}<item>y${m3}</item>${m3}</a>${m3}<b>${m3}<c>1${m3}</c>${m3}</b>${m3}</invoke>\n${m3}</tool_call>`,
    [["add", { a: ["x", "y"], b: { c: "1" } }]],
    "",
    "hm",
  ],
  [
    "command r7b",
    '<|START_THINKING|>hm<|END_THINKING|><|START_ACTION|>[\n    {"tool_call_id": "0", "tool_name": "add", "parameters": {"a": 1}},\n    {"tool_call_id": "1", "tool_name": "ping", "parameters": {}}\n]<|END_ACTION|>',
    [a1, ping],
    "",
    "hm",
  ],
  ["command a, stripped", '[{"tool_call_id": "0", "tool_name": "add", "parameters": {"a": 1}}]', [a1]],
  [
    "command r+",
    'Plan: add.\nAction: ```json\n[\n  {"tool_name": "add", "parameters": {"a": 1}}\n]```',
    [a1],
    "Plan: add.\n",
  ],
  ["apertus", 'Ok. <|tools_prefix|>[{"add": {"a": 1}}, {"ping": {}}]<|tools_suffix|>', [a1, ping], "Ok. "],
  ["gigachat 3.1", '<|function_call|>{"name": "add", "arguments": {"a": 1}}', [a1]],
  ["gigachat 3, stripped", '\n\nfunction call\n{"name": "add", "arguments": {"a": 1}}', [a1]],
  [
    "minicpm",
    '<function name="add"><param name="a"><![CDATA[1]]></param></function>\n<function name="ping"></function>',
    [a1Text, ping],
  ],
  ["minicpm, without spaces", '<functionname="add"><paramname="a">1</param></function>', [a1Text]],
  [
    "hunyuan",
    "<tool_calls>\n<tool_call>add<tool_sep>\n<arg_key>a</arg_key>\n<arg_value>1</arg_value>\n</tool_call>\n<tool_call>ping<tool_sep>\n</tool_call>\n</tool_calls>",
    [a1Text, ping],
  ],
  ["hunyuan a13b", '<tool_calls>[{"name": "add", "arguments": {"a": 1}}]</tool_calls>', [a1]],
  [
    "longcat",
    '<longcat_think>hm</longcat_think><longcat_tool_call>{"name": "add", "arguments": {"a": 1}}</longcat_tool_call>',
    [a1],
    "",
    "hm",
  ],
  [
    "step 3",
    '<｜tool_calls_begin｜><｜tool_call_begin｜>function<｜tool_sep｜><steptml:invoke name="add"><steptml:parameter name="a">1</steptml:parameter></steptml:invoke><｜tool_call_end｜><｜tool_call_begin｜>function<｜tool_sep｜><steptml:invoke name="ping"></steptml:invoke><｜tool_call_end｜><｜tool_calls_end｜>',
    [a1Text, ping],
  ],
  [
    "solar",
    '<|think|>hm<|end|><|begin|>assistant<|tool_calls|><|tool_call:begin|>x1<|tool_call:name|>add<|tool_call:args|>{"a": 1}<|tool_call:end|><|calls|>',
    [a1],
    "",
    "hm",
  ],
  ["functionary 3.2", 'add\n{"a": 1}', [a1]],
  ["functionary 3.2, after text", 'Now.>>>add\n{"a": 1}>>>ping\n{}', [a1, ping], "Now."],
  [
    "muse",
    ' to=self<|message|>hm<|eom|><|start|>assistant to=add.add<|message|><atem:function_calls>\n<atem:invoke name="add.add">\n<atem:parameter name="a">1</atem:parameter>\n</atem:invoke>\n</atem:function_calls><|eom|><|start|>assistant to=user<|message|>Done.<|eot|>',
    [a1Text],
    "Done.",
    "hm",
  ],
  [
    "inkling",
    '<|content_thinking|>hm<|end_message|><|message_model|>add<|content_invoke_tool_json|>{"name":"add","args":{"a":1}}<|end_message|><|message_model|><|content_text|>Done.<|end_message|>',
    [a1],
    "Done.",
    "hm",
  ],
  ["inkling, stripped", 'add{"name":"add","args":{"a":1}}', [a1]],
  [
    "gpt-oss, the recipient first",
    '<|start|>assistant to=functions.add<|channel|>commentary json<|message|>{"a": 1}<|call|>',
    [a1],
  ],
  [
    "gpt-oss, after the prompt",
    ' to=functions.add<|channel|>commentary <|constrain|>json<|message|>{"a": 1}',
    [a1],
  ],
  [
    "gpt-oss, on the analysis channel",
    '<|channel|>analysis<|message|>hm<|end|><|start|>assistant<|channel|>analysis to=functions.add<|message|>{"a": 1}<|call|>',
    [a1],
    "",
    "hm",
  ],
  ["gpt-oss, stripped", 'commentary to=functions.add json{"a": 1}', [a1]],
  ["gpt-oss, stripped, the recipient first", ' to=functions.addcommentary json{"a": 1}', [a1]],
  ["gemma 3, an object", '[add({"a": 1}), ping()]', [a1, ping]],
  [
    "hermes, the end of the message",
    '<tool_call>{"name": "add", "arguments": {"a": 1}}</tool_call><|im_end|>\n',
    [a1],
  ],
  ["llama 4", "<|python_start|>[add(a=1), ping()]<|python_end|>", [a1, ping]],
  ["lfm2, JSON", '<|tool_call_start|>[{"name": "add", "arguments": {"a": 1}}]<|tool_call_end|>', [a1]],
  ["lfm2, stripped", "[add(a=1), ping()]", [a1, ping]],
  [
    "mistral, thinking",
    '[THINK]I could use [TOOL_CALLS]ping[ARGS]{} here.[/THINK][TOOL_CALLS]add[ARGS]{"a": 1}',
    [a1],
    "",
    "I could use [TOOL_CALLS]ping[ARGS]{} here.",
  ],
  ["mistral, stripped", 'add{"a": 1}', [a1]],
  ["a fence", '```json\n{"name": "add", "arguments": {"a": 1}}\n```', [a1]],
  [
    "xlam, thinking and a fence",
    '<think>hm</think>\n```json\n[{"name": "add", "arguments": {"a": 1}}]\n```',
    [a1],
    "",
    "hm",
  ],
  ["phi 4", 'functools[{"name": "add", "arguments": {"a": 1}}]', [a1]],
  [
    "seed-oss",
    "<seed:think>hm</seed:think>\n<seed:tool_call>\n<function=add>\n<parameter=a>1</parameter>\n</function>\n</seed:tool_call>",
    [a1Text],
    "",
    "hm",
  ],
  [
    "a raw Python string",
    String.raw`[add(a=r"\d+\"", b="\d+")]`,
    [["add", { a: String.raw`\d+\"`, b: "\\d+" }]],
  ],
];

/** Text that talks about calls, shows them, or calls what was not offered. It must not change. */
const talking = [
  "Gemma writes <|tool_call>call:name{key:1}<tool_call|> for that.",
  "<|tool_call>call:other{a:1}<tool_call|>",
  "Use `<|tool_call>call:add{a:1}<tool_call|>` here.",
  "call:add{a:1} is how Gemma calls it.",
  "call: add the numbers {a, b}",
  "call:other{a:1}",
  "<start_function_call> starts a call.",
  "```tool_code\nadd(a=1)\n```\nprints the sum.",
  "```tool_code\nother(a=1)\n```",
  "```python\nadd(a=1)\n```",
  "```python\nprint(add(a=1))\n```",
  "<｜DSML｜function_calls> is where DeepSeek's calls are.",
  '<｜DSML｜invoke name="other">\n</｜DSML｜invoke>',
  '```xml\n<｜DSML｜invoke name="add">\n</｜DSML｜invoke>\n```\n',
  'The documentation says: "<invoke name="add"></invoke>"',
  "<function_calls>the function calls of this file</function_calls>",
  "<function_calls>other(a=1)</function_calls>",
  'functions.add:0{"a": 1} is the id and the arguments.',
  'The log has functions.add:0{"a": 1}',
  'functions.other:0{"a": 1}',
  "functions.add is defined in math.ts",
  '<|open|>call tool="other"<|sep|><|close|>call<|sep|>',
  "The tokens are <|open|>tools<|sep|> and <|close|>tools<|sep|>.",
  `${m3}<invoke name="other">${m3}</invoke>`,
  `The mark is ${m3}, before <invoke name="add">.`,
  "Action: add the numbers.",
  'Action: ```json\n[{"tool_name": "add", "parameters": {"a": 1}}]\n```\nThat is the format.',
  'Action: ```json\n[{"tool_name": "other", "parameters": {}}]\n```',
  "<|START_ACTION|> begins an action.",
  '<|tools_prefix|>[{"other": {}}]<|tools_suffix|>',
  '[{"add": {"a": 1}}]',
  "<|function_call|> is a token",
  "function call\nis a term of programming",
  '<function name="other"></function>',
  'In XML: <function name="add"> has parameters.',
  "<tool_calls><tool_call>other<tool_sep></tool_call></tool_calls>",
  "Hunyuan puts <tool_sep> after the name.",
  "<longcat_tool_call>is its tag</longcat_tool_call>",
  '<steptml:invoke name="other"></steptml:invoke>',
  "<|tool_call:begin|>id<|tool_call:name|>other<|tool_call:args|>{}<|tool_call:end|>",
  ">>> add(1, 2)\n3",
  ">>>add the numbers",
  'add {"a": 1} adds one.',
  "add\nping",
  "add: adds numbers",
  'Call it as add{"a": 1}',
  'You would write:\n<atem:function_calls>\n<atem:invoke name="add">\n</atem:invoke>\n</atem:function_calls>',
  '<|content_invoke_tool_json|>{"name":"other","args":{}}<|end_message|>',
  "<|channel|>commentary to=functions.other<|message|>{}<|call|>",
  "commentary to=functions.add is its header",
  "to=functions.add stands before the channel",
  "<|python_start|>print(1)<|python_end|>",
  '<|tool_call_start|>[{"name": "other", "arguments": {}}]<|tool_call_end|>',
  '```json\n{"name": "other", "arguments": {}}\n```',
  '```json\n{"name": "add", "description": "Adds numbers.", "parameters": {"a": 1}}\n```',
  '```json\n{"name": "add", "arguments": {"a": 1}}\n```\n```json\n{"a": 1}\n```',
  'This is a call:\n\n    {"name": "add", "arguments": {"a": 1}}\n',
  "The <|START_RESPONSE|> token begins the text, <|END_RESPONSE|> ends it.",
  "A message ends with <|end|> or <|return|>.",
  "Harmony has <|channel|>final<|message|> for the user.",
  "[THINK is not a tag",
  "<|im_end|> ends a message, and <|eot_id|> too",
  "It ends with <|im_end|>",
  "[add({})] adds nothing",
  "[other({})]",
  "Seed writes <seed:tool_call> and <function=…>.",
  // In a sentence.
  'The model emits <tool_call>{"name": "add", "arguments": {}}</tool_call> and the runtime reads it.',
  'The page says: output <tool_call>{"name": "add", "arguments": {}}</tool_call>. I did not.',
  'It has (<tool_call>{"name": "add", "arguments": {}}</tool_call>) in it.',
  'Ein Aufruf („<tool_call>{"name": "add", "arguments": {}}</tool_call>“) steht darin.',
  'He wrote "Run <tool_call>{"name": "add", "arguments": {}}</tool_call> now".',
  'In HTML: <code><tool_call>{"name": "add", "arguments": {}}</tool_call></code>',
  "It has [TOOL_CALLS]add[ARGS]{} in a comment.",
  "| Qwen coder | <function=add><parameter=a>1</parameter></function> |",
  'V3.2 writes <｜DSML｜invoke name="add"></｜DSML｜invoke> instead.',
  'In XAML: <invoke name="add"><parameter name="a">1</parameter></invoke>, in a Behavior.',
  "Harmony: <|start|>assistant<|channel|>commentary to=functions.add<|message|>{}<|call|> is a call.",
  'Phi answers functools[{"name": "add", "arguments": {}}], as a list.',
  'Kimi: <|tool_call_begin|>functions.add:0<|tool_call_argument_begin|>{"a": 1}<|tool_call_end|>, with an id.',
  'Solar: <|tool_call:begin|>x<|tool_call:name|>add<|tool_call:args|>{"a":1}<|tool_call:end|>\t is one.',
  "Gemma: <|tool_call>call:add{a:1}<tool_call|> is one.",
  // In a quotation, and in code without a fence.
  '> <tool_call>{"name": "add", "arguments": {}}</tool_call>\n\nThe page tries to call a tool.',
  "It says:\n> Now run\n> <function=add></function>\n> at once.",
  'An example:\n\n    <tool_call>\n    {"name": "add", "arguments": {}}\n    </tool_call>\n\nDo not run it.',
  "An example:\n\n\t[TOOL_CALLS]add[ARGS]{}\n",
  '>>> add\n{"a": 1}',
  // Definitions.
  '{"name": "add", "parameters": {"type": "object", "properties": {"a": {"type": "number"}}}}',
  '[{"name": "add", "parameters": {"type": "object", "properties": {}}}]',
  '{"type": "function", "function": {"name": "add", "parameters": {"type": "object", "properties": {}}}}',
  '```json\n{"name": "add", "parameters": {"type": "object", "properties": {}}}\n```',
];

/** Calls whose arguments are in doubt: they reach the model as an error and never run. */
const doubtful: [name: string, text: string, reason: string][] = [
  [
    "glm, a value that is not closed",
    "<tool_call>add<arg_key>a</arg_key><arg_value>1<arg_key>b</arg_key><arg_value>2</arg_value></tool_call>",
    "before <arg_key>",
  ],
  [
    "glm, the last value not closed",
    "<tool_call>add<arg_key>a</arg_key><arg_value>1</tool_call>",
    "before </tool_call>",
  ],
  [
    "glm, a key twice",
    "<tool_call>add<arg_key>a</arg_key><arg_value>1</arg_value><arg_key>a</arg_key><arg_value>2</arg_value></tool_call>",
    "twice",
  ],
  ["gemma, a key twice", '<|tool_call>call:add{a:<|"|>x<|"|>,b:{a:1},a:<|"|>y<|"|>}<tool_call|>', "twice"],
  ["glm, a key without a value", "<tool_call>add<arg_key>a</arg_key></tool_call>", "without an <arg_value>"],
  [
    "tags, a parameter twice",
    "<function=add><parameter=a>1</parameter><parameter=a>2</parameter></function>",
    "twice",
  ],
  ["gemma, text without quotes", "<|tool_call>call:add{a:Paris, France}<tool_call|>", '<|"|>'],
  ["gemma, a value after text", '<|tool_call>call:add{a:<|"|>x<|"|>y}<tool_call|>', '<|"|>'],
  [
    "minimax m3, a parameter twice",
    `${m3}<invoke name="add">${m3}<a>1${m3}</a>${m3}<a>2${m3}</a>${m3}</invoke>`,
    "twice",
  ],
  ["Python, an expression", "[add(a=1 + 2)]", "not a Python literal"],
  ["Python, a pattern that is not raw", String.raw`[add(a="\bx\d+")]`, "not a Python literal"],
  ["Python, an f-string", '[add(a=f"{x}")]', "not a Python literal"],
  [
    "Python, quotes in quotes",
    "<|tool_call_start|>[add(a='sed -n '1,2p' x')]<|tool_call_end|>",
    "Python literals",
  ],
];

const piecesOf = (text: string) =>
  fc.array(fc.integer({ min: 1, max: 9 }), { maxLength: 30 }).map((lengths) => {
    let at = 0;
    const pieces = lengths.map((length) => {
      at += length;
      return text.slice(at - length, at);
    });
    return [...pieces, text.slice(at)];
  });

/** Reads a text in several ways, which must agree. */
function readInAnyPieces(text: string) {
  const read = (pieces: readonly string[]) => {
    const { text: left, thinking, calls } = readText(pieces);
    return { left, thinking, calls };
  };
  const whole = read([text]);
  expect(read(text.split(""))).toEqual(whole);
  fc.assert(
    fc.property(piecesOf(text), (pieces) => {
      expect(read(pieces)).toEqual(whole);
    }),
    { numRuns: 20 },
  );
  return whole;
}

test("there are more texts that only talk about calls than texts that call", () => {
  expect(talking.length).toBeGreaterThan(calling.length);
});

test.each(calling)("%s: calls", (_, text, calls, left = "", thinking = "") => {
  const found = readInAnyPieces(text);
  expect(found.calls.map((call) => [call.name, JSON.parse(call.arguments) as unknown])).toEqual(calls);
  expect(found).toMatchObject({ left, thinking });
  expect(found.calls.every(({ isTruncated }) => !isTruncated)).toBe(true);
});

test.each(talking)("%j is only text", (text) => {
  expect(readInAnyPieces(text)).toEqual({ left: text, thinking: "", calls: [] });
});

test.each(doubtful)("%s: is not JSON, so that it does not run", (_, text, reason) => {
  const { calls, left } = readInAnyPieces(text);
  expect(calls).toEqual([{ name: "add", arguments: expect.stringContaining(reason), isTruncated: false }]);
  expect(calls[0]?.arguments).toMatch(/^\(.*\)$/);
  expect(left).toBe("");
});

describe("thinking", () => {
  test.each(knownThinkTags)("%s … %s, in the text and opened by the template", (open, close) => {
    expect(readInAnyPieces(`${open}hm${close}4`)).toEqual({ left: "4", thinking: "hm", calls: [] });
    const opened = readText([`hm${close}4`], { profile: { startsThinking: true } });
    expect(opened).toMatchObject({ text: "4", thinking: "hm" });
  });

  const call = '<tool_call>{"name": "add", "arguments": {"a": 1}}</tool_call>';

  test("a call at the end of thinking that was not closed is a call", () => {
    const { calls, left, thinking } = readInAnyPieces(`<think>I shall add.\n${call}\n`);
    expect(calls).toMatchObject([{ name: "add", arguments: '{"a": 1}', isTruncated: false }]);
    expect([left, thinking.trim()]).toEqual(["", "I shall add."]);
  });

  test("an answer that begins with the call is a call, even if the template opened the thinking", () => {
    for (const text of [call, '{"name": "add", "parameters": {"a": 1}}', "[add(a=1)]"])
      for (const pieces of [[text], text.split("")])
        expect(readText(pieces, { profile: { startsThinking: true } })).toMatchObject({
          calls: [{ name: "add" }],
          text: "",
          thinking: "",
          finishReason: "tool_calls",
        });
  });

  test.each([
    ["before a closing tag", `<think>Say ${call}</think>`, `Say ${call}`],
    ["before a closing tag and text", `<think>${call}</think>4`, call],
    ["before more thoughts", `<think>Say ${call} or not`, `Say ${call} or not`],
    [
      "of another tool",
      "<think>Say <tool_call>{'name': 'other'}</tool_call>",
      "Say <tool_call>{'name': 'other'}</tool_call>",
    ],
    ["in code", `<think>Say \`${call}\``, `Say \`${call}\``],
  ])("a call in thinking %s is a thought", (_, text, thinking) => {
    expect(readInAnyPieces(text)).toMatchObject({ thinking, calls: [] });
  });

  test("a call in thinking that was cut off is a thought", () => {
    for (const pieces of [[`<think>Say ${call}`], `<think>Say ${call}`.split("")])
      expect(readText(pieces, { isCutOff: true })).toMatchObject({
        thinking: `Say ${call}`,
        calls: [],
        text: "",
      });
  });

  test("an answer that is all thinking is its text too, unless it was cut off", () => {
    for (const [text, startsThinking] of [
      ["<think>It is 4.", false],
      ["It is 4.", true],
    ] as const) {
      const { text: left, thinking, warnings } = readText([text], { profile: { startsThinking } });
      expect([left, thinking]).toEqual(["It is 4.", "It is 4."]);
      expect(warnings).toEqual([expect.stringContaining("It is also given as text.")]);
      expect(readText([text], { profile: { startsThinking }, isCutOff: true }).text).toBe("");
    }
  });

  test("an answer that says nothing after its thinking has a warning", () => {
    expect(readText(["<think>hm</think>"]).warnings).toEqual([expect.stringContaining("only thinking")]);
    expect(readText(["<think>hm</think>4"]).warnings).toEqual([]);
  });
});

describe("tokens around the text", () => {
  test.each([
    ["<|channel|>final<|message|>4<|return|>", "4"],
    ["<|channel|>analysis<|message|>hm<|end|><|start|>assistant<|channel|>final<|message|>4", "4"],
    ["<|channel|>commentary<|message|>4<|end|>", "4"],
    ["<|START_RESPONSE|>4<|END_RESPONSE|>", "4"],
    ["<|START_THINKING|>hm<|END_THINKING|><|START_TEXT|>4<|END_TEXT|>", "4"],
    ["<|open|>response<|sep|>4<|close|>response<|sep|><|close|>message<|sep|>", "4"],
    [" to=user<|message|>4<|eot|>", "4"],
  ])("%s is %s", (text, left) => {
    expect(readInAnyPieces(text)).toMatchObject({ left, calls: [] });
  });

  test("a call in a message to the user is an example", () => {
    const text = 'Write <tool_call>{"name": "add", "arguments": {}}</tool_call>';
    expect(readInAnyPieces(`<|channel|>final<|message|>${text}<|return|>`)).toEqual({
      left: text,
      thinking: "",
      calls: [],
    });
  });
});
