// Tool calls in text, and text that only looks like them.

import { added, type QuirkCase, says } from "../quirk-case.ts";

const json = '{"name": "add", "arguments": {"a": 1, "b": 2}}';
const parameters = '{"name": "add", "parameters": {"a": 1, "b": 2}}';

const mark = "]<]minimax[>[";

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
  "gpt-oss, the recipient before the channel":
    '<|start|>assistant to=functions.add<|channel|>analysis<|message|>{"a": 1, "b": 2}<|call|>',
  "Gemma 4": "<|tool_call>call:add{a:1,b:2}<tool_call|>",
  "Gemma 3, tool_code": "```tool_code\nadd(a=1, b=2)\n```",
  "DeepSeek V3.2, DSML":
    '<｜DSML｜function_calls>\n<｜DSML｜invoke name="add">\n<｜DSML｜parameter name="a" string="false">1</｜DSML｜parameter>\n<｜DSML｜parameter name="b" string="false">2</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜function_calls>',
  "OLMo 3": "<function_calls>add(a=1, b=2)</function_calls>",
  "Kimi K2, its tokens stripped": 'functions.add:0{"a": 1, "b": 2}',
  "Kimi K3":
    '<|open|>tools<|sep|><|open|>call tool="add" index="1"<|sep|><|open|>argument key="a" type="number"<|sep|>1<|close|>argument<|sep|><|open|>argument key="b" type="number"<|sep|>2<|close|>argument<|sep|><|close|>call<|sep|><|close|>tools<|sep|><|close|>message<|sep|>',
  "Command R+": 'Action:\n```json\n[{"tool_name": "add", "parameters": {"a": 1, "b": 2}}]\n```',
  "Command R7B":
    '<|START_ACTION|>[\n  {"tool_call_id": "0", "tool_name": "add", "parameters": {"a": 1, "b": 2}}\n]<|END_ACTION|>',
  Apertus: '<|tools_prefix|>[{"add": {"a": 1, "b": 2}}]<|tools_suffix|>',
  GigaChat: `<|function_call|>${json}`,
  MiniCPM: '<function name="add"><param name="a">1</param><param name="b">2</param></function>',
  Hunyuan:
    "<tool_calls><tool_call>add<tool_sep><arg_key>a</arg_key><arg_value>1</arg_value><arg_key>b</arg_key><arg_value>2</arg_value></tool_call></tool_calls>",
  LongCat: `<longcat_tool_call>${json}</longcat_tool_call>`,
  "Step 3":
    '<｜tool_calls_begin｜><｜tool_call_begin｜>function<｜tool_sep｜><steptml:invoke name="add"><steptml:parameter name="a">1</steptml:parameter><steptml:parameter name="b">2</steptml:parameter></steptml:invoke><｜tool_call_end｜><｜tool_calls_end｜>',
  Solar:
    '<|begin|>assistant<|tool_calls|><|tool_call:begin|>x1<|tool_call:name|>add<|tool_call:args|>{"a": 1, "b": 2}<|tool_call:end|><|calls|>',
  Functionary: 'add\n{"a": 1, "b": 2}',
  Muse: '<|start|>assistant to=add.add<|message|><atem:function_calls>\n<atem:invoke name="add.add">\n<atem:parameter name="a">1</atem:parameter>\n<atem:parameter name="b">2</atem:parameter>\n</atem:invoke>\n</atem:function_calls>',
  Inkling:
    '<|message_model|>add<|content_invoke_tool_json|>{"name":"add","args":{"a":1,"b":2}}<|end_message|>',
  "Seed-OSS":
    "<seed:tool_call>\n<function=add>\n<parameter=a>1</parameter>\n<parameter=b>2</parameter>\n</function>\n</seed:tool_call>",
  "LFM2, JSON": `<|tool_call_start|>[${json}]<|tool_call_end|>`,
  "Llama 4, with tags": "<|python_start|>[add(a=1, b=2)]<|python_end|>",
  "a fence that is the whole answer": `\`\`\`json\n${json}\n\`\`\``,
  "MiniMax M3": `${mark}<tool_call>\n${mark}<invoke name="add">${mark}<a>1${mark}</a>${mark}<b>2${mark}</b>${mark}</invoke>\n${mark}</tool_call>`,
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
    name: "after thinking that is never closed",
    answers: [cut(`<think>I shall add.\n<tool_call>${json}</tool_call>`)],
    expect: { ran: added, thinking: "I shall add.\n" },
  },
  {
    name: "at the start, although the template opened the thinking",
    profile: { startsThinking: true },
    answers: [cut(`<tool_call>${json}</tool_call>`)],
    // The last answer, "Done.", is all thinking too.
    expect: { ran: added, thinking: "Done." },
  },
  {
    name: "GLM, a value that is not closed",
    answers: [
      cut(
        "<tool_call>add<arg_key>a</arg_key><arg_value>1<arg_key>b</arg_key><arg_value>2</arg_value></tool_call>",
      ),
    ],
    expect: { told: ["no </arg_value> closes before <arg_key>"] },
  },
  {
    name: "one character at a time",
    answers: [says(...`<tool_call>${json}</tool_call>`.split(""))],
    expect: { ran: added },
  },
];

const lookalikes: Readonly<Record<string, string>> = {
  "a fence among words": `Call it so:\n\`\`\`json\n${json}\n\`\`\``,
  "a call in prose, without tokens": 'You write add{"a": 1, "b": 2} for that.',
  "a call of a tool that was not offered": "<|tool_call>call:subtract{a:1}<tool_call|>",
  "DSML in a code block": '```xml\n<｜DSML｜invoke name="add"></｜DSML｜invoke>\n```',
  "an action in words": "Action: add the numbers.",
  "a Python session": ">>> add(1, 2)\n3",
  "tokens that are only mentioned": "The text is between <|START_RESPONSE|> and <|END_RESPONSE|>.",
  "a tag that is only mentioned": "The <tool_call> tag opens a call, and <function=add> names it.",
  "a call in a fenced block": `For example:\n\`\`\`\n<tool_call>${json}</tool_call>\n\`\`\`\n`,
  "a call in a code span": `Write \`<tool_call>${json}</tool_call>\` for that.`,
  "JSON that names no offered tool": '{"name": "Alice", "parameters": {"age": 3}}',
  "JSON as the answer": '{"result": [1, 2, {"name": "add"}]}',
  "bare JSON with text after it": `${parameters} would add them.`,
  "markup that never ends": "<tool_call> and then nothing",
  "a list in brackets": "[1, 2] and [add](https://example.org)",
};

export const lookalikeCases: readonly QuirkCase[] = [
  ...Object.entries(lookalikes).map(([name, text]) => ({ name, answers: [cut(text)], expect: { text } })),
  {
    name: "a call in [THINK]",
    answers: [cut('[THINK]Maybe [TOOL_CALLS]add[ARGS]{"a": 1, "b": 2}[/THINK]No.')],
    expect: { text: "No.", thinking: 'Maybe [TOOL_CALLS]add[ARGS]{"a": 1, "b": 2}' },
  },
  {
    name: "a call in a message to the user",
    answers: [cut(`<|channel|>final<|message|>Write <tool_call>${json}</tool_call><|return|>`)],
    expect: { text: `Write <tool_call>${json}</tool_call>` },
  },
];
