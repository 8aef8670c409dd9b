// Dialects that write each argument between tags of its own, such as Qwen coder's
// `<function=name><parameter=key>value</parameter></function>`. Only the tags differ.

import { parseJson } from "../../parse-json.ts";
import {
  type Cursor,
  isCutBefore,
  literal,
  literalAfterSpace,
  type Reading,
  skipSpace,
  until,
  untilWithinName,
} from "../cursor.ts";
import { type Dialect, type DialectTools, doubtfulCall, type TextCall } from "./dialect.ts";
import { readJson } from "./json-call.ts";
import { readName } from "./parts.ts";
import { sections } from "./sections.ts";

interface Tags {
  /** Up to the name of the function. */
  readonly opens: readonly string[];
  readonly close: string;
  /** Up to the name of the parameter. */
  readonly parameters: readonly string[];
  readonly closeParameter: string;
  /** After a name. After a quote, attributes may follow. Default: no quote. */
  readonly quote?: '"';
  /** Ends an opening tag. Default: `>`. */
  readonly tagEnd?: string;
  /** Whether values may be `<![CDATA[…]]>`. Default: false. */
  readonly hasCdata?: true;
}

const qwenTags: Tags = {
  opens: ["<function="],
  close: "</function>",
  parameters: ["<parameter="],
  closeParameter: "</parameter>",
};

/** `<function=add>…`, without a `<tool_call>` around it. Seed-OSS has a tag of its own around it. */
export const functionTag = /* @__PURE__ */ tagged(
  qwenTags,
  ["<seed:tool_call>"],
  // Qwen coder often forgets to open what it then closes.
  ["</tool_call>", "</seed:tool_call>"],
);

/** MiniMax M2's `<invoke>`, alone or in an outer tag, which other families name differently. */
export const invokeTag = /* @__PURE__ */ tagged(
  invokeTags("<", "</"),
  ["<minimax:tool_call>", "<function_calls>", "<tool_calls>", "<dots_function_call>"],
  ["</minimax:tool_call>", "</function_calls>", "</tool_calls>", "</dots_function_call>"],
);

/** DeepSeek V3.2 (`function_calls`) and V4 (`tool_calls`). */
export const dsml = /* @__PURE__ */ tagged(
  invokeTags("<｜DSML｜", "</｜DSML｜"),
  ["<｜DSML｜function_calls>", "<｜DSML｜tool_calls>"],
  ["</｜DSML｜function_calls>", "</｜DSML｜tool_calls>"],
);

/** Muse: in a message to the tool. */
export const atem = /* @__PURE__ */ tagged(
  invokeTags("<atem:", "</atem:"),
  ["<atem:function_calls>"],
  ["</atem:function_calls>", "<|eom|>", "<|eot|>"],
);

export const step = /* @__PURE__ */ tagged(
  invokeTags("<steptml:", "</steptml:"),
  ["<｜tool_calls_begin｜>", "<｜tool_call_begin｜>"],
  ["<｜tool_calls_end｜>"],
  ["<｜tool_call_begin｜>", "function<｜tool_sep｜>", "<｜tool_sep｜>", "<｜tool_call_end｜>"],
);

/** MiniCPM; some servers strip the space between its tokens. */
export const miniCpm = /* @__PURE__ */ tagged(
  {
    opens: ['<function name="', '<functionname="'],
    close: "</function>",
    parameters: ['<param name="', '<paramname="'],
    closeParameter: "</param>",
    quote: '"',
    hasCdata: true,
  },
  [],
  [],
);

export const kimiK3 = /* @__PURE__ */ tagged(
  {
    opens: ['<|open|>call tool="'],
    close: "<|close|>call<|sep|>",
    parameters: ['<|open|>argument key="'],
    closeParameter: "<|close|>argument<|sep|>",
    quote: '"',
    tagEnd: "<|sep|>",
  },
  ["<|open|>tools<|sep|>"],
  ["<|close|>tools<|sep|>", "<|close|>message<|sep|>", "<|end_of_msg|>"],
);

function invokeTags(open: string, close: string): Tags {
  return {
    opens: [`${open}invoke name="`],
    close: `${close}invoke>`,
    parameters: [`${open}parameter name="`],
    closeParameter: `${close}parameter>`,
    quote: '"',
  };
}

function tagged(
  tags: Tags,
  outer: readonly string[],
  outerEnds: readonly string[],
  between: readonly string[] = [],
): Dialect {
  return sections({ sections: outer, begin: tags.opens, between, sectionEnds: outerEnds }, (cursor, tools) =>
    readTags(cursor, tools, tags),
  );
}

/** The cursor is at `<function=`. */
export function* readFunctionTag(cursor: Cursor, tools: DialectTools): Reading<TextCall | undefined> {
  if ((yield* literal(cursor, ...qwenTags.opens)) === undefined) return undefined;
  return yield* readTags(cursor, tools, qwenTags);
}

function* readTags(cursor: Cursor, tools: DialectTools, tags: Tags): Reading<TextCall | undefined> {
  const { quote, tagEnd = ">" } = tags;
  const name = yield* readName(cursor, tools, quote ?? tagEnd);
  if (name === undefined) return undefined;
  if (quote !== undefined) {
    const attributes = yield* untilWithinName(cursor, tagEnd, "\n");
    if (attributes?.stop !== tagEnd) return undefined;
    if (attributes.text.endsWith("/")) return { name, arguments: "{}", isCut: false };
  }
  if ((yield* skipSpace(cursor)) === "{") return yield* readJsonBody(cursor, name, tags);
  const values = new Map<string, string>();
  let isDoubtful = false;
  const call = (isCut: boolean) =>
    isDoubtful
      ? doubtfulCall(name, "a parameter occurs twice")
      : { name, arguments: `{${[...values].map((member) => member.join(":")).join(",")}}`, isCut };
  const nextTags = [...tags.parameters, tags.close, "</tool_call>"];
  for (let count = 0; ; count++) {
    const next = yield* skipSpace(cursor);
    // If it is cut off after the name, it may only mention the tag.
    if (next === undefined) return count > 0 ? call(true) : undefined;
    const tag = yield* literal(cursor, ...nextTags);
    if (tag === undefined) return count > 0 && isCutBefore(cursor, ...nextTags) ? call(true) : undefined;
    if (!tags.parameters.includes(tag)) return call(false);
    const key = yield* untilWithinName(cursor, quote ?? tagEnd, "\n", "<");
    if (!key) return undefined;
    if (key.stop !== (quote ?? tagEnd)) return key.stop === undefined && count > 0 ? call(true) : undefined;
    const attributes = quote === undefined ? undefined : yield* untilWithinName(cursor, tagEnd, "\n");
    if (quote !== undefined && attributes?.stop !== tagEnd)
      return attributes?.stop === undefined && count > 0 ? call(true) : undefined;
    const value = yield* readValue(cursor, tags);
    if (value === undefined) return call(true);
    const json = toJson(value, attributes?.text ?? "");
    const member = JSON.stringify(key.text.trim());
    isDoubtful ||= values.has(member) && values.get(member) !== json;
    values.set(member, json);
  }
}

/** Undefined when the text ends before the value does. */
function* readValue(cursor: Cursor, tags: Tags): Reading<string | undefined> {
  if (tags.hasCdata && (yield* literalAfterSpace(cursor, "<![CDATA[")) !== undefined) {
    const data = yield* until(cursor, "]]>");
    if (data.stop === undefined) return undefined;
    yield* literalAfterSpace(cursor, tags.closeParameter);
    return data.text;
  }
  // It ends at its own closing tag, or at the next tag if that is missing.
  const value = yield* until(cursor, tags.closeParameter, ...tags.parameters, tags.close);
  if (value.stop === undefined) return undefined;
  if (value.stop !== tags.closeParameter) cursor.position -= value.stop.length;
  return withoutMargins(value.text);
}

/** Llama 3.1's variant: `<function=add>{"a": 1}</function>`. */
function* readJsonBody(cursor: Cursor, name: string, tags: Tags): Reading<TextCall | undefined> {
  const json = yield* readJson(cursor);
  if (!json) return undefined;
  if (!json.isCut) yield* literalAfterSpace(cursor, tags.close);
  return { name, arguments: json.text, isCut: json.isCut };
}

/** DeepSeek says `string="false"` of values that are JSON, Kimi K3 names their type. All others are text. */
function toJson(value: string, attributes: string): string {
  const isJson = /\bstring="false"|\btype="(?!string")/.test(attributes) && parseJson(value) !== undefined;
  return isJson ? value : JSON.stringify(value);
}

/** The line breaks next to the tags are layout; all others are the value's. */
function withoutMargins(value: string): string {
  const start = value.startsWith("\r\n") ? 2 : value.startsWith("\n") ? 1 : 0;
  const rest = value.slice(start);
  return rest.endsWith("\r\n") ? rest.slice(0, -2) : rest.endsWith("\n") ? rest.slice(0, -1) : rest;
}
