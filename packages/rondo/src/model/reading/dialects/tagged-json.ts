// Dialects of JSON between tags. Only the tags differ.

import { type Cursor, type Reading, skipSpace } from "../cursor.ts";
import type { Dialect, DialectTools, TextCall } from "./dialect.ts";
import { readFunctionTag } from "./function-tag.ts";
import { readGlmCall } from "./glm.ts";
import { readJsonCall, readJsonCalls } from "./json-call.ts";
import { readCallsInRow, skipClose, skipFence } from "./parts.ts";

/** `<tool_call>`: with JSON (Hermes, Qwen), a list of it (Granite), `<function=…>` (Qwen coder) or `<arg_key>` (GLM). */
export const toolCallTag: Dialect = {
  openers: ["<tool_call>"],
  *read(cursor, tools) {
    const char = yield* skipFence(cursor);
    if (char === "{" || char === "[") return yield* readBody(cursor, tools, "</tool_call>");
    const call = char === "<" ? yield* readFunctionTag(cursor, tools) : yield* readGlmCall(cursor, tools);
    if (!call) return undefined;
    if (!call.isCut) yield* skipClose(cursor, "</tool_call>");
    return [call];
  },
};

/** Llama's, closed by the end of the message. */
export const pythonTag: Dialect = /* @__PURE__ */ tagged({
  "<|python_tag|>": ["<|eom_id|>", "<|eot_id|>"],
});

/** Tags that other families use. */
export const otherTags: Dialect = /* @__PURE__ */ tagged({
  "<|tool_call|>": ["<|/tool_call|>", "<|end|>"],
  "<function_call>": ["</function_call>"],
  "<tool_calls>": ["</tool_calls>"],
  "<TOOLCALL>": ["</TOOLCALL>"],
  "<|action_start|><|plugin|>": ["<|action_end|>"],
  functools: [],
});

function tagged(tags: Readonly<Record<string, readonly string[]>>): Dialect {
  return {
    openers: Object.keys(tags),
    *read(cursor, tools, opener) {
      const char = yield* skipFence(cursor);
      if (char !== "{" && char !== "[") return undefined;
      return yield* readBody(cursor, tools, ...(tags[opener] ?? []));
    },
  };
}

/** One object, several with space or `;` between them, or a list; then the closing tag, which may be missing. */
function* readBody(
  cursor: Cursor,
  tools: DialectTools,
  ...closes: readonly string[]
): Reading<readonly TextCall[] | undefined> {
  const options = closes[0] === undefined ? {} : { close: closes[0] };
  let calls: readonly TextCall[] | undefined;
  if ((yield* skipSpace(cursor)) === "[") calls = yield* readJsonCalls(cursor, tools, options);
  else {
    const first = yield* readJsonCall(cursor, tools, options);
    if (!first) return undefined;
    calls = yield* readCallsInRow(
      cursor,
      function* () {
        let char = yield* skipSpace(cursor);
        for (; char === ";" || char === ","; char = yield* skipSpace(cursor)) cursor.position++;
        return char === "{";
      },
      () => readJsonCall(cursor, tools, options),
      [first],
    );
  }
  if (calls) yield* skipClose(cursor, ...closes);
  return calls;
}
