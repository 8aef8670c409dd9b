// Which dialects a profile's names stand for.

import type { ToolDialect } from "../../profile.ts";
import { bareJson } from "./bare-json.ts";
import type { Dialect } from "./dialect.ts";
import { functionTag, invokeTag } from "./function-tag.ts";
import { mistral } from "./mistral.ts";
import { pythonic, taggedPythonic } from "./pythonic.ts";
import { deepseek, harmony, kimi } from "./sections.ts";
import { otherTags, pythonTag, toolCallTag } from "./tagged-json.ts";

const byName: Readonly<Record<ToolDialect, readonly Dialect[]>> = {
  hermes: [toolCallTag],
  "qwen-coder": [toolCallTag, functionTag],
  glm: [toolCallTag],
  mistral: [mistral],
  llama: [pythonTag, functionTag],
  "bare-json": [bareJson],
  pythonic: [pythonic, taggedPythonic],
  deepseek: [deepseek],
  kimi: [kimi],
  harmony: [harmony],
  granite: [otherTags, toolCallTag],
  minimax: [invokeTag],
};

/** Each dialect once, in the profile's order. Names that are not known are passed over. */
export function dialectsOf(names: readonly ToolDialect[]): readonly Dialect[] {
  return [...new Set(names.flatMap((name) => byName[name] ?? []))];
}
