// Texts that make the most work for a reader of markup: all that its dialects look for, repeated, nested, unclosed.

/** What opens, closes and separates, in all dialects. */
export const markers: readonly string[] = [
  ..."<tool_call> </tool_call> <function= > </function> <parameter= </parameter>".split(" "),
  ..."<arg_key> </arg_key> <arg_value> </arg_value> [TOOL_CALLS] [ARGS] [CALL_ID] </s>".split(" "),
  ..."<|python_tag|> <|eom_id|> <|eot_id|> <|tool_call|> <|/tool_call|> <|end|> functools".split(" "),
  ..."<function_call> </function_call> <tool_calls> </tool_calls> <TOOLCALL> </TOOLCALL>".split(" "),
  ..."<|action_start|><|plugin|> <|action_end|> <|tool_call_start|> <|tool_call_end|>".split(" "),
  ..."<｜tool▁calls▁begin｜> <｜tool_calls_begin｜> <｜tool▁call▁begin｜> <｜tool_call_begin｜>".split(" "),
  ..."<｜tool▁sep｜> <｜tool▁call▁end｜> <｜tool_call_end｜> <｜tool▁calls▁end｜> <｜tool_calls_end｜>".split(
    " ",
  ),
  ..."<|tool_calls_section_begin|> <|tool_call_begin|> <|tool_call_argument_begin|>".split(" "),
  ..."<|tool_calls_section_end|> <|message|> <|call|> <|constrain|>json".split(" "),
  "<|channel|>commentary to=",
  "<|start|>assistant<|channel|>commentary to=",
  ..."<minimax:tool_call> </minimax:tool_call> <function_calls> </function_calls> </invoke>".split(" "),
  '<invoke name="',
  '<parameter name="',
  '">',
  ..."<think> </think> [THINK] [/THINK] <|channel|>analysis<|message|>".split(" "),
  ..."{ } [ ] ( ) : , ; = \" ' ` ``` ~~~ \\ < <| add ping nope".split(" "),
  " ",
  "\n",
];

/** What a call of each dialect begins with, up to where a value would be. */
export const callBeginnings: readonly string[] = [
  "<function=add>",
  "<function=add><parameter=a>",
  '<function=add>{"a":',
  '<function=add>{"a":"',
  "<tool_call>add<arg_key>",
  "<tool_call>add<arg_key>a</arg_key><arg_value> ",
  "<tool_call>```json",
  '<tool_call>{"arguments":{"a":',
  '<tool_call>{"arguments":{"a":"',
  '<tool_call>{"arguments":{"a":"x ',
  '<tool_call>{"function":{"arguments":',
  `<tool_call>{"name":"${"a.".repeat(300)}`,
  '<tool_call>[{"arguments":[',
  '[TOOL_CALLS]add[ARGS]{"a":',
  '[TOOL_CALLS]add[ARGS]{"a":"',
  '[TOOL_CALLS][{"arguments":{',
  '<|python_tag|>{"parameters":["',
  '<|tool_call|>[{"parameters":["',
  'functools[{"arguments":[',
  '{"parameters":{"a":',
  '[{"parameters":{"a":',
  '<think></think>{"parameters":{"',
  "<think></think>[add(a='",
  "[add(a=",
  "[add(aaaa",
  '[add(a="a\n',
  "<|tool_call_start|>[add(a=[",
  '<｜tool▁call▁begin｜>add<｜tool▁sep｜>{"a":',
  "<｜tool▁call▁begin｜>function<｜tool▁sep｜>add\n```json\n{",
  '<|tool_call_begin|>functions.add:0<|tool_call_argument_begin|>{"a":["',
  '<|channel|>commentary to=functions.add<|message|>{"a":{',
  '<minimax:tool_call><invoke name="add"><parameter name="a">',
];

/** Whole calls, of which many can be followed by one that is none. */
export const wholeCalls: readonly string[] = [
  '<tool_call>{"name":"add","arguments":{}}</tool_call>',
  '<tool_call>{"name":"add","arguments":{}}',
  "<function=add><parameter=a>1</parameter></function>",
  "<tool_call>add<arg_key>a</arg_key><arg_value>1</arg_value></tool_call>",
  '<tool_call>{"name":"add","arguments":{}}  \n ',
  '[TOOL_CALLS]add[ARGS]{"a":1}',
  "<|tool_call_start|>[add(a=1),ping()]",
  "<｜tool▁call▁begin｜>add<｜tool▁sep｜>{}<｜tool▁call▁end｜>",
  "<|tool_call_begin|>functions.add:0<|tool_call_argument_begin|>{}<|tool_call_end|>",
  "<|channel|>commentary to=functions.add<|message|>{}<|call|>",
  '<invoke name="add"></invoke>',
];

/** Texts that go on with more and more of the same, and what comes before and after it. */
const framed: readonly (readonly [before: string, repeated: string, after: string])[] = [
  [
    "<｜tool▁calls▁begin｜>",
    "<｜tool▁call▁begin｜>add<｜tool▁sep｜>{}<｜tool▁call▁end｜>",
    "<｜tool▁call▁begin｜>nope",
  ],
  [
    "<|tool_calls_section_begin|>",
    "<|tool_call_begin|>add<|tool_call_argument_begin|>{}",
    "<|tool_call_begin|>",
  ],
  ["<minimax:tool_call>", '<invoke name="add"></invoke>', '<invoke name="nope">'],
  ["[TOOL_CALLS][", '{"name":"add","arguments":{}},', "nope"],
  ["<tool_call>", '{"name":"add","arguments":{}}\n', '{"name":"nope"}'],
  ["[", '{"name":"add","parameters":{}},', "] nope"],
  ["[", "ping(),", "nope()]"],
  ["[add(", "a=1,", ")] nope"],
  ["[add(a=[", "'a' ", "])]"],
  ["[TOOL_CALLS]add[ARGS]{", '"a":1,', "`"],
  ['<tool_call>{"name":"add","arguments":{"a":"', "x", "</tool_call>"],
  ['<tool_call>{"name":"add","arguments":{}}', " ", "x"],
  ["<function=add><parameter=a>", "<", "x"],
  ["<tool_call>", "\n", "x"],
  ["<think>a", " ", "</think>x"],
  ["", " ", "x"],
];

export interface HostileText {
  readonly name: string;
  /** Makes a text of about this length. */
  readonly make: (length: number) => string;
}

export const hostileTexts: readonly HostileText[] = [
  ...[...markers, ...callBeginnings, ...wholeCalls].map((marker) => ({
    name: marker.slice(0, 80),
    make: (length: number) => repeated(marker, length),
  })),
  // What stayed open up to here can no longer be closed, and was read for nothing.
  ...callBeginnings.map((marker) => ({
    name: `${marker.slice(0, 80)} then a fence`,
    make: (length: number) => `${repeated(marker, length)}\n\`\`\`<x>`,
  })),
  ...framed.map(([before, marker, after]) => ({
    name: `${before} then ${marker} then ${after}`,
    make: (length: number) => before + repeated(marker, length) + after,
  })),
  {
    name: "all of them in turn",
    make: (length) => repeated([...markers, ...callBeginnings, ...wholeCalls].join(""), length),
  },
  {
    name: "many of each",
    make: (length) =>
      callBeginnings.map((marker) => repeated(marker, Math.ceil(length / callBeginnings.length))).join(""),
  },
];

export function repeated(text: string, length: number): string {
  return text.repeat(Math.ceil(length / text.length));
}
