// The dialects in which models write tool calls into their text, by the names that profiles use. To add one, see
// the recipe in CONTRIBUTING.md.

import { bareJson } from "./bare-json.ts";
import type { Dialect } from "./dialect.ts";
import { fencedJson } from "./fence.ts";
import { dsml, functionTag, invokeTag, kimiK3, miniCpm, step } from "./function-tag.ts";
import { bareGemma, gemma } from "./gemma.ts";
import { minimaxM3 } from "./minimax-m3.ts";
import { mistral } from "./mistral.ts";
import { bareMuse, muse } from "./muse.ts";
import { bareHarmony, lateBareHarmony, namedJson, recipients } from "./named-json.ts";
import { pythonic, taggedPythonic, toolCode } from "./pythonic.ts";
import { deepseek, harmony, harmonyStart, kimi, solar } from "./sections.ts";
import {
  action,
  apertus,
  bareGigaChat,
  fencedAction,
  gigaChat,
  inkling,
  jsonToolCallStart,
  namedInkling,
  otherTags,
  pythonTag,
  toolCallsTag,
  toolCallTag,
} from "./tagged-json.ts";

/** Where two dialects share an opener, the one that comes first is tried first. */
export const toolDialects = {
  /** `<tool_call>{"name": …, "arguments": …}</tool_call>`: Hermes, Qwen and many models trained on their output. */
  hermes: [toolCallTag],
  /** `<function=name><parameter=key>value</parameter></function>`, alone, in `<tool_call>` or in `<seed:tool_call>`. */
  "qwen-coder": [toolCallTag, functionTag],
  /** `<tool_call>name<arg_key>key</arg_key><arg_value>value</arg_value></tool_call>`. */
  glm: [toolCallTag, toolCallsTag],
  /** `[TOOL_CALLS][{…}]` and `[TOOL_CALLS]name[ARGS]{…}`. */
  mistral: [mistral],
  /** `<|python_tag|>{"name": …, "parameters": …}`. */
  llama: [pythonTag, functionTag],
  /** `{"name": …, "parameters": …}`, or a list of such, as the whole answer. */
  "bare-json": [bareJson, fencedJson],
  /** `name{…}` as the whole answer: what stripped tokens leave, and Functionary. */
  "named-json": [namedJson, recipients],
  /** `[name(key="value")]` as the whole answer (Llama 3.2 and 4), or between tags (LFM2, Llama 4, OLMo 3, Gemma 3). */
  pythonic: [pythonic, taggedPythonic, toolCode, jsonToolCallStart],
  /** `<|tool_call>call:name{key:<|"|>value<|"|>}<tool_call|>`, and FunctionGemma's. */
  gemma: [gemma, bareGemma],
  /** `<｜tool▁calls▁begin｜>…`. */
  deepseek: [deepseek],
  /** `<｜DSML｜invoke name="…">…`. */
  dsml: [dsml],
  /** `<|tool_calls_section_begin|>…`. */
  kimi: [kimi],
  /** `<|open|>call tool="…"<|sep|>…`. */
  "kimi-k3": [kimiK3],
  /** `<|channel|>commentary to=functions.name …<|message|>{…}<|call|>` (gpt-oss). */
  harmony: [harmony, harmonyStart, bareHarmony, lateBareHarmony],
  /** `<|tool_call|>[{…}]` (Granite, Phi), and other tags around JSON: `<TOOLCALL>`, `functools`, `<longcat_tool_call>`. */
  granite: [otherTags, toolCallTag],
  /** `<|START_ACTION|>[…]`, and `Action:` with a fence. */
  cohere: [action, fencedAction],
  /** `<|tools_prefix|>[{"name": {…}}]`. */
  apertus: [apertus],
  /** `<|function_call|>{…}`. */
  gigachat: [gigaChat, bareGigaChat],
  /** `<invoke name="…"><parameter name="…">…</parameter></invoke>`. */
  minimax: [invokeTag],
  /** `]<]minimax[>[<invoke name="…">…`. */
  "minimax-m3": [minimaxM3],
  /** `<function name="…"><param name="…">…</param></function>`. */
  minicpm: [miniCpm],
  /** `<steptml:invoke name="…">…`. */
  step3: [step],
  /** `<|tool_call:begin|>id<|tool_call:name|>name<|tool_call:args|>{…}`. */
  solar: [solar],
  /** `<atem:invoke name="…">…`, in a message to the tool. */
  muse: [muse, bareMuse],
  /** `<|content_invoke_tool_json|>{…}`. */
  inkling: [inkling, namedInkling],
} satisfies Readonly<Record<string, readonly Dialect[]>>;
