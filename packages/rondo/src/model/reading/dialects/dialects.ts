// The dialects in which models write tool calls into their text, by the names that profiles use. To add one, see
// the recipe in CONTRIBUTING.md.

import { bareJson } from "./bare-json.ts";
import type { Dialect } from "./dialect.ts";
import { functionTag, invokeTag } from "./function-tag.ts";
import { mistral } from "./mistral.ts";
import { pythonic, taggedPythonic } from "./pythonic.ts";
import { deepseek, harmony, kimi } from "./sections.ts";
import { otherTags, pythonTag, toolCallTag } from "./tagged-json.ts";

/** Where two dialects share an opener, the one that comes first is tried first. */
export const toolDialects = {
  /** `<tool_call>{"name": …, "arguments": …}</tool_call>`: Hermes, Qwen and many models trained on their output. */
  hermes: [toolCallTag],
  /** `<function=name><parameter=key>value</parameter></function>`, alone or in `<tool_call>`. */
  "qwen-coder": [toolCallTag, functionTag],
  /** `<tool_call>name<arg_key>key</arg_key><arg_value>value</arg_value></tool_call>`. */
  glm: [toolCallTag],
  /** `[TOOL_CALLS][{…}]` and `[TOOL_CALLS]name[ARGS]{…}`. */
  mistral: [mistral],
  /** `<|python_tag|>{"name": …, "parameters": …}`. */
  llama: [pythonTag, functionTag],
  /** `{"name": …, "parameters": …}`, or a list of such, as the whole answer. */
  "bare-json": [bareJson],
  /** `[name(key="value")]` as the whole answer (Llama 3.2 and 4), or between tags (LFM2). */
  pythonic: [pythonic, taggedPythonic],
  /** `<｜tool▁calls▁begin｜>…`. */
  deepseek: [deepseek],
  /** `<|tool_calls_section_begin|>…`. */
  kimi: [kimi],
  /** `<|channel|>commentary to=functions.name …<|message|>{…}<|call|>` (gpt-oss). */
  harmony: [harmony],
  /** `<|tool_call|>[{…}]` (Granite, Phi), and other tags around a list: `<TOOLCALL>`, `functools`. */
  granite: [otherTags, toolCallTag],
  /** `<invoke name="…"><parameter name="…">…</parameter></invoke>`. */
  minimax: [invokeTag],
} satisfies Readonly<Record<string, readonly Dialect[]>>;
