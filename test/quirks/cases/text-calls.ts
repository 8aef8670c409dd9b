// Tool calls in text, and text that only looks like them.

import { added, type QuirkCase, says } from "../quirk-case.ts";

const json = '{"name": "add", "arguments": {"a": 1, "b": 2}}';
const parameters = '{"name": "add", "parameters": {"a": 1, "b": 2}}';

const dialects: Readonly<Record<string, string>> = {
  "Hermes and Qwen": `<tool_call>\n${json}\n</tool_call>`,
  "Hermes, never closed": `<tool_call>\n${json}`,
  "Hermes, a brace too few": `<tool_call>${json.slice(0, -1)}</tool_call>`,
  "Qwen coder":
    "<tool_call>\n<function=add>\n<parameter=a>\n1\n</parameter>\n<parameter=b>\n2\n</parameter>\n</function>\n</tool_call>",
  "Qwen coder, without the outer tag":
    "<function=add>\n<parameter=a>1</parameter>\n<parameter=b>2</parameter>\n</function>",
  Mistral: `[TOOL_CALLS][${json}]`,
  "Mistral, since 2025": '[TOOL_CALLS]add[ARGS]{"a": 1, "b": 2}',
  "Llama, python tag": `<|python_tag|>${parameters}`,
  "Llama, bare JSON": parameters,
  "Llama 3.1, function tag": '<function=add>{"a": 1, "b": 2}</function>',
  "Llama 4, pythonic": "[add(a=1, b=2)]",
  "DeepSeek V3":
    '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>add\n```json\n{"a": 1, "b": 2}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
  "DeepSeek V3.1":
    '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>add<｜tool▁sep｜>{"a": 1, "b": 2}<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
  "Granite and Phi": `<|tool_call|>[${json}]`,
  GLM: "<tool_call>add\n<arg_key>a</arg_key>\n<arg_value>1</arg_value>\n<arg_key>b</arg_key>\n<arg_value>2</arg_value>\n</tool_call>",
  Kimi: '<|tool_calls_section_begin|><|tool_call_begin|>functions.add:0<|tool_call_argument_begin|>{"a": 1, "b": 2}<|tool_call_end|><|tool_calls_section_end|>',
  "gpt-oss": '<|channel|>commentary to=functions.add <|constrain|>json<|message|>{"a": 1, "b": 2}<|call|>',
  MiniMax:
    '<minimax:tool_call>\n<invoke name="add">\n<parameter name="a">1</parameter>\n<parameter name="b">2</parameter>\n</invoke>\n</minimax:tool_call>',
};

/** Chunks of a few characters, like tokens. */
const cut = (text: string) => says(...(text.match(/[\s\S]{1,4}/g) ?? []));

export const textCalls: readonly QuirkCase[] = [
  ...Object.entries(dialects).map(([name, text]) => ({ name, answers: [cut(text)], expect: { ran: added } })),
  {
    name: "with text around it",
    answers: [cut(`Let me add.\n<tool_call>${json}</tool_call>\nOne moment.`)],
    expect: { ran: added, text: "Let me add.\n\nOne moment." },
  },
  {
    name: "several",
    answers: [
      cut(`<tool_call>${json}</tool_call>\n<tool_call>{"name": "ping", "arguments": {}}</tool_call>`),
    ],
    expect: { ran: [...added, ["ping", {}]] },
  },
  {
    name: "after thinking",
    answers: [cut(`<think>I shall add.</think>\n\n<tool_call>${json}</tool_call>`)],
    expect: { ran: added, thinking: "I shall add." },
  },
  {
    name: "one character at a time",
    answers: [says(...`<tool_call>${json}</tool_call>`.split(""))],
    expect: { ran: added },
  },
];

const lookalikes: Readonly<Record<string, string>> = {
  "a tag that is only mentioned": "The <tool_call> tag opens a call, and <function=add> names it.",
  "a call in a fenced block": `For example:\n\`\`\`\n<tool_call>${json}</tool_call>\n\`\`\`\n`,
  "a call in a code span": `Write \`<tool_call>${json}</tool_call>\` for that.`,
  "JSON that names no offered tool": '{"name": "Alice", "parameters": {"age": 3}}',
  "JSON as the answer": '{"result": [1, 2, {"name": "add"}]}',
  "bare JSON with text after it": `${parameters} would add them.`,
  "markup that never ends": "<tool_call> and then nothing",
  "a list in brackets": "[1, 2] and [add](https://example.org)",
};

export const lookalikeCases: readonly QuirkCase[] = Object.entries(lookalikes).map(([name, text]) => ({
  name,
  answers: [cut(text)],
  expect: { text },
}));
