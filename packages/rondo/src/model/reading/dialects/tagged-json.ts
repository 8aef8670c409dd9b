// Dialects of JSON between tags. Only the tags differ.

import { type Cursor, literalAfterSpace, type Reading, skipSpace } from "../cursor.ts";
import type { Dialect, DialectTools, TextCall } from "./dialect.ts";
import { readFunctionTag } from "./function-tag.ts";
import { readGlmCall } from "./glm.ts";
import { readJsonCall, readJsonCalls } from "./json-call.ts";
import { readCallsInRow, readName, skipClose, skipFence } from "./parts.ts";
import { sections } from "./sections.ts";

/** Hunyuan's tag around several `<tool_call>`. */
export const toolCallsTag: Dialect = /* @__PURE__ */ sections(
  { sections: ["<tool_calls>"], begin: ["<tool_call>"], sectionEnds: ["</tool_calls>"] },
  function* (cursor, tools) {
    yield* skipSpace(cursor);
    const call = yield* readGlmCall(cursor, tools);
    if (call && !call.isCut) yield* skipClose(cursor, "</tool_call>");
    return call;
  },
);

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
  "<longcat_tool_call>": ["</longcat_tool_call>"],
  "<dots_function_call>": ["</dots_function_call>"],
  functools: [],
});

/** LFM2, which writes JSON instead of Python when asked to. */
export const jsonToolCallStart: Dialect = /* @__PURE__ */ tagged({
  "<|tool_call_start|>": ["<|tool_call_end|>"],
});

/** Cohere: Command R7B and A. Command R and R+ write a list in a fence after `Action:`, as the end of the answer. */
export const action: Dialect = /* @__PURE__ */ tagged({
  "<|START_ACTION|>": ["<|END_ACTION|>"],
});
export const fencedAction: Dialect = {
  openers: ["Action:"],
  *read(cursor, tools) {
    if ((yield* literalAfterSpace(cursor, "```json", "```")) === undefined) return undefined;
    if ((yield* skipSpace(cursor)) !== "[") return undefined;
    const calls = yield* readJsonCalls(cursor, tools);
    yield* literalAfterSpace(cursor, "```");
    return (yield* skipSpace(cursor)) === undefined ? calls : undefined;
  },
};

/** GigaChat 3.1, and 3. */
export const gigaChat: Dialect = /* @__PURE__ */ tagged({
  "<|function_call|>": ["</s>"],
  "<|message_sep|>\n\nfunction call<|role_sep|>\n": ["</s>", "<|message_sep|>"],
});

/** Without the tokens, which some servers strip: then it must begin the answer. */
export const bareGigaChat: Dialect = {
  .../* @__PURE__ */ tagged({ "function call\n": [] }),
  isWholeAnswer: true,
};

/** Inkling, with the tool's name before the token too. */
export const inkling: Dialect = /* @__PURE__ */ tagged({
  "<|content_invoke_tool_json|>": ["<|end_message|>"],
});
export const namedInkling: Dialect = {
  openers: ["<|message_model|>"],
  *read(cursor, tools) {
    const name = yield* readName(cursor, tools, "<|content_invoke_tool_json|>");
    if (name === undefined || (yield* skipSpace(cursor)) !== "{") return undefined;
    return yield* readBody(cursor, tools, "<|end_message|>");
  },
};

/** Apertus: the name of the tool is the key of its arguments. */
export const apertus: Dialect = {
  openers: ["<|tools_prefix|>"],
  *read(cursor, tools) {
    if ((yield* skipSpace(cursor)) !== "[") return undefined;
    const calls = yield* readJsonCalls(cursor, tools, { isKeyed: true });
    if (calls) yield* skipClose(cursor, "<|tools_suffix|>");
    return calls;
  },
};

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
