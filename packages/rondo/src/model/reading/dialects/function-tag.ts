// Qwen coder's dialect, `<function=name><parameter=key>value</parameter></function>`, and similar ones.

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
import type { Dialect, DialectTools, TextCall } from "./dialect.ts";
import { readJson } from "./json-call.ts";
import { readName } from "./parts.ts";
import { sections } from "./sections.ts";

interface Tags {
  readonly open: string;
  readonly close: string;
  readonly parameter: string;
  /** After the name of the function, and of a parameter. */
  readonly afterName: string;
}

const closeParameter = "</parameter>";
const qwenTags: Tags = {
  open: "<function=",
  close: "</function>",
  parameter: "<parameter=",
  afterName: ">",
};
const invokeTags: Tags = {
  open: '<invoke name="',
  close: "</invoke>",
  parameter: '<parameter name="',
  afterName: '">',
};

/** `<function=add>…`, without a `<tool_call>` around it. */
export const functionTag: Dialect = {
  openers: [qwenTags.open],
  *read(cursor, tools) {
    const call = yield* readTags(cursor, tools, qwenTags);
    if (!call) return undefined;
    // Qwen coder often forgets to open what it then closes.
    if (!call.isCut) yield* literalAfterSpace(cursor, "</tool_call>");
    return [call];
  },
};

/** MiniMax's `<invoke>`, alone or in an outer tag. */
export const invokeTag: Dialect = /* @__PURE__ */ sections(
  {
    sections: ["<minimax:tool_call>", "<function_calls>"],
    begin: [invokeTags.open],
    sectionEnds: ["</minimax:tool_call>", "</function_calls>"],
  },
  (cursor, tools) => readTags(cursor, tools, invokeTags),
);

/** The cursor is at `<function=`. */
export function* readFunctionTag(cursor: Cursor, tools: DialectTools): Reading<TextCall | undefined> {
  if ((yield* literal(cursor, qwenTags.open)) === undefined) return undefined;
  return yield* readTags(cursor, tools, qwenTags);
}

function* readTags(cursor: Cursor, tools: DialectTools, tags: Tags): Reading<TextCall | undefined> {
  const name = yield* readName(cursor, tools, tags.afterName);
  if (name === undefined) return undefined;
  if ((yield* skipSpace(cursor)) === "{") return yield* readJsonBody(cursor, name, tags);
  const values: Record<string, string> = Object.create(null) as Record<string, string>;
  const cut = () => ({ name, arguments: JSON.stringify(values), isCut: true });
  for (let count = 0; ; count++) {
    const next = yield* skipSpace(cursor);
    // If it is cut off after the name, it may only mention the tag.
    if (next === undefined) return count > 0 ? cut() : undefined;
    const tag = yield* literal(cursor, tags.parameter, tags.close, "</tool_call>");
    if (tag === undefined)
      return count > 0 && isCutBefore(cursor, tags.parameter, tags.close, "</tool_call>") ? cut() : undefined;
    if (tag !== tags.parameter) return { name, arguments: JSON.stringify(values), isCut: false };
    const key = yield* untilWithinName(cursor, tags.afterName, "\n", "<");
    if (!key) return undefined;
    if (key.stop !== tags.afterName) return key.stop === undefined && count > 0 ? cut() : undefined;
    // A value ends at its own closing tag, or at the next tag if that is missing.
    const value = yield* until(cursor, closeParameter, tags.parameter, tags.close);
    if (value.stop === undefined) return cut();
    if (value.stop !== closeParameter) cursor.position -= value.stop.length;
    values[key.text.trim()] = withoutMargins(value.text);
  }
}

/** Llama 3.1's variant: `<function=add>{"a": 1}</function>`. */
function* readJsonBody(cursor: Cursor, name: string, tags: Tags): Reading<TextCall | undefined> {
  const json = yield* readJson(cursor);
  if (!json) return undefined;
  if (!json.isCut) yield* literalAfterSpace(cursor, tags.close);
  return { name, arguments: json.text, isCut: json.isCut };
}

/** The line breaks next to the tags are layout; all others are the value's. */
function withoutMargins(value: string): string {
  const start = value.startsWith("\r\n") ? 2 : value.startsWith("\n") ? 1 : 0;
  const rest = value.slice(start);
  return rest.endsWith("\r\n") ? rest.slice(0, -2) : rest.endsWith("\n") ? rest.slice(0, -1) : rest;
}
