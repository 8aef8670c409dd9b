// The recipe "Add a text dialect" in CONTRIBUTING.md: what each dialect of the table must have, and that one more works.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import type { ToolDialect } from "../../profile.ts";
import { readText } from "../testkit/read-all.ts";
import type { Dialect } from "./dialect.ts";
import { toolDialects } from "./dialects.ts";
import { readJson } from "./json-call.ts";
import { readName } from "./parts.ts";

const json = '{"name": "add", "arguments": {"a": "1"}}';
const mark = "]<]minimax[>[";

/** One answer in each dialect, which calls `add` with `{ a: "1" }`. */
const fixtures: Readonly<Record<ToolDialect, string>> = {
  hermes: `<tool_call>${json}</tool_call>`,
  "qwen-coder": "<function=add><parameter=a>1</parameter></function>",
  glm: "<tool_call>add<arg_key>a</arg_key><arg_value>1</arg_value></tool_call>",
  mistral: '[TOOL_CALLS]add[ARGS]{"a": "1"}',
  llama: `<|python_tag|>${json}<|eom_id|>`,
  "bare-json": json,
  "named-json": 'functions.add:0{"a": "1"}',
  pythonic: '[add(a="1")]',
  gemma: '<|tool_call>call:add{a:<|"|>1<|"|>}<tool_call|>',
  deepseek:
    '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>add<｜tool▁sep｜>{"a": "1"}<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
  dsml: '<｜DSML｜tool_calls>\n<｜DSML｜invoke name="add">\n<｜DSML｜parameter name="a" string="true">1</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜tool_calls>',
  kimi: '<|tool_calls_section_begin|><|tool_call_begin|>functions.add:0<|tool_call_argument_begin|>{"a": "1"}<|tool_call_end|><|tool_calls_section_end|>',
  "kimi-k3":
    '<|open|>tools<|sep|><|open|>call tool="add" index="1"<|sep|><|open|>argument key="a" type="string"<|sep|>1<|close|>argument<|sep|><|close|>call<|sep|><|close|>tools<|sep|><|close|>message<|sep|>',
  harmony: '<|channel|>commentary to=functions.add <|constrain|>json<|message|>{"a": "1"}<|call|>',
  granite: `<|tool_call|>[${json}]`,
  cohere:
    '<|START_ACTION|>[\n  {"tool_call_id": "0", "tool_name": "add", "parameters": {"a": "1"}}\n]<|END_ACTION|>',
  apertus: '<|tools_prefix|>[{"add": {"a": "1"}}]<|tools_suffix|>',
  gigachat: `<|message_sep|>\n\nfunction call<|role_sep|>\n${json}</s>`,
  minimax:
    '<minimax:tool_call><invoke name="add"><parameter name="a">1</parameter></invoke></minimax:tool_call>',
  "minimax-m3": `${mark}<tool_call>\n${mark}<invoke name="add">${mark}<a>1${mark}</a>${mark}</invoke>\n${mark}</tool_call>`,
  minicpm: '<function name="add"><param name="a">1</param></function>',
  step3:
    '<｜tool_calls_begin｜><｜tool_call_begin｜>function<｜tool_sep｜><steptml:invoke name="add"><steptml:parameter name="a">1</steptml:parameter></steptml:invoke><｜tool_call_end｜><｜tool_calls_end｜>',
  solar:
    '<|begin|>assistant<|tool_calls|><|tool_call:begin|>abc123<|tool_call:name|>add<|tool_call:args|>{"a": "1"}<|tool_call:end|><|calls|>',
  muse: '<|start|>assistant to=add.add<|message|><atem:function_calls>\n<atem:invoke name="add.add">\n<atem:parameter name="a">1</atem:parameter>\n</atem:invoke>\n</atem:function_calls><|eom|>',
  inkling: '<|message_model|>add<|content_invoke_tool_json|>{"name":"add","args":{"a":"1"}}<|end_message|>',
};

/** Reads an answer whole, in single characters, and in two pieces cut at each place. */
function expectOneCall(text: string, dialect: string): void {
  const profile = { toolDialects: [dialect as ToolDialect] };
  const cuts = Array.from(text, (_, at) => [text.slice(0, at), text.slice(at)]);
  for (const pieces of [[text], text.split(""), ...cuts]) {
    const { calls, text: left } = readText(pieces, { profile });
    expect(calls.map((call) => [call.name, JSON.parse(call.arguments), call.isTruncated])).toEqual([
      ["add", { a: "1" }, false],
    ]);
    expect(left).toBe("");
  }
}

test.each(Object.keys(toolDialects) as ToolDialect[])(
  "%s: its fixture is one call, however it is split",
  (dialect) => expectOneCall(fixtures[dialect], dialect),
);

test("docs/quirks.md has a row for each dialect, and no others", () => {
  const page = readFileSync(join(import.meta.dirname, "../../../../../../docs/quirks.md"), "utf8");
  const [, table = ""] = /### Calls in text\n([\s\S]*?)\n## /.exec(page) ?? [];
  const rows = [...table.matchAll(/^\| `([\w-]+)` \|/gm)].map(([, name]) => name);
  expect(rows).toEqual(Object.keys(toolDialects));
});

const madeUp: Dialect = {
  openers: ["=>call "],
  *read(cursor, tools) {
    const name = yield* readName(cursor, tools, " ");
    if (name === undefined) return undefined;
    const found = yield* readJson(cursor);
    return found && [{ name, arguments: found.text, isCut: found.isCut }];
  },
};

afterEach(() => {
  delete (toolDialects as Record<string, unknown>)["made-up"];
});

test("a dialect that is added to the table is read, however it is split, and its look-alikes stay text", () => {
  Object.assign(toolDialects, { "made-up": [madeUp] });
  expectOneCall('=>call add {"a": "1"}', "made-up");
  const profile = { toolDialects: ["made-up" as ToolDialect] };
  for (const text of ["=>call other {}", "=>call add now", "a => call"])
    for (const pieces of [[text], text.split("")])
      expect(readText(pieces, { profile })).toMatchObject({ text, calls: [] });
});
