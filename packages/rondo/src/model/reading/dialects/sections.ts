// Dialects of special tokens: the beginning of a call, its name, a separator, its arguments, its end.

import { type Cursor, literalAfterSpace, type Reading, skipSpace, untilWithinName } from "../cursor.ts";
import type { Dialect, DialectTools, TextCall } from "./dialect.ts";
import { readJson } from "./json-call.ts";
import { readCallsInRow, skipFence } from "./parts.ts";

interface SectionTokens {
  /** Before all calls; may be missing. */
  readonly sections: readonly string[];
  readonly begin: readonly string[];
  /** Before, between and after the calls, without a meaning. Default: none. */
  readonly between?: readonly string[];
  /** After the last call. */
  readonly sectionEnds: readonly string[];
}

interface Tokens extends SectionTokens {
  /** Between an id and the name. Default: there is no id. */
  readonly idEnd?: string;
  /** Between the name and the arguments. */
  readonly separator: string;
  readonly ends: readonly string[];
}

/** V3 writes `function<sep>name` and the arguments in a fence, V3.1 and later `name<sep>{…}`. */
export const deepseek = /* @__PURE__ */ tokenSections({
  sections: ["<｜tool▁calls▁begin｜>", "<｜tool_calls_begin｜>"],
  begin: ["<｜tool▁call▁begin｜>", "<｜tool_call_begin｜>"],
  separator: "<｜tool▁sep｜>",
  ends: ["<｜tool▁call▁end｜>", "<｜tool_call_end｜>"],
  sectionEnds: ["<｜tool▁calls▁end｜>", "<｜tool_calls_end｜>"],
});

export const kimi = /* @__PURE__ */ tokenSections({
  sections: ["<|tool_calls_section_begin|>"],
  begin: ["<|tool_call_begin|>"],
  separator: "<|tool_call_argument_begin|>",
  ends: ["<|tool_call_end|>"],
  sectionEnds: ["<|tool_calls_section_end|>"],
});

/** An id comes before the name. */
export const solar = /* @__PURE__ */ tokenSections({
  sections: ["<|tool_calls|>", "<|begin|>assistant<|tool_calls|>"],
  begin: ["<|tool_call:begin|>"],
  idEnd: "<|tool_call:name|>",
  separator: "<|tool_call:args|>",
  ends: ["<|tool_call:end|>"],
  sectionEnds: ["<|calls|>", "<|end|>"],
});

/**
 * The part of gpt-oss's own format that servers pass through when they cannot parse it. The recipient comes before or
 * after the channel.
 */
export const harmony = /* @__PURE__ */ tokenSections({
  sections: [],
  begin: [
    ...["", "<|start|>assistant"].flatMap((start) =>
      ["commentary", "analysis"].map((channel) => `${start}<|channel|>${channel} to=`),
    ),
    "<|start|>assistant to=",
  ],
  separator: "<|message|>",
  ends: ["<|call|>", "<|end|>"],
  sectionEnds: [],
});

/** The same where the prompt ended with `<|start|>assistant`. */
export const harmonyStart: Dialect = {
  ...harmony,
  openers: ["to="],
  isWholeAnswer: true,
  read: (cursor, tools) => harmony.read(cursor, tools, "<|start|>assistant to="),
};

/** A dialect whose calls each begin with a token, alone or in a section. */
export function sections(
  { sections, begin, between = [], sectionEnds }: SectionTokens,
  readCall: (cursor: Cursor, tools: DialectTools) => Reading<TextCall | undefined>,
): Dialect {
  return {
    openers: [...sections, ...begin],
    *read(cursor, tools, opener) {
      let hasBegun = begin.includes(opener);
      const calls = yield* readCallsInRow(
        cursor,
        function* () {
          const isFirst = hasBegun;
          hasBegun = false;
          if (isFirst) return true;
          yield* skipAll(cursor, between);
          return (yield* literalAfterSpace(cursor, ...begin)) !== undefined;
        },
        () => readCall(cursor, tools),
      );
      if (calls) yield* skipAll(cursor, [...between, ...sectionEnds]);
      return calls;
    },
  };
}

/** Reads as many of the texts as come, with white space before each. */
function* skipAll(cursor: Cursor, texts: readonly string[]): Reading<void> {
  if (texts.length === 0) return;
  while ((yield* literalAfterSpace(cursor, ...texts)) !== undefined);
}

function tokenSections(tokens: Tokens): Dialect {
  return sections(tokens, (cursor, tools) => readCall(cursor, tools, tokens));
}

function* readCall(cursor: Cursor, tools: DialectTools, tokens: Tokens): Reading<TextCall | undefined> {
  if (
    tokens.idEnd !== undefined &&
    (yield* untilWithinName(cursor, tokens.idEnd, "\n"))?.stop !== tokens.idEnd
  )
    return undefined;
  const header = yield* untilWithinName(cursor, tokens.separator, "\n");
  if (header?.stop !== tokens.separator) return undefined;
  let name = tools.match(nameIn(header.text));
  if (header.text === "function" && (yield* skipSpace(cursor)) !== "{") {
    const line = yield* untilWithinName(cursor, "\n", "`", "{");
    if (line?.stop === undefined) return undefined;
    if (line.stop !== "\n") cursor.position--;
    name = tools.match(line.text);
  }
  if (name === undefined) return undefined;
  const char = yield* skipFence(cursor);
  if (char === undefined) return { name, arguments: "", isCut: true };
  if (char !== "{") return undefined;
  const json = yield* readJson(cursor);
  if (!json) return undefined;
  if (json.isCut) return { name, arguments: json.text, isCut: true };
  const end = cursor.offset;
  yield* literalAfterSpace(cursor, "```");
  if ((yield* literalAfterSpace(cursor, ...tokens.ends)) === undefined) cursor.rewind(end);
  return { name, arguments: json.text, isCut: false };
}

/** `functions.add:0` (Kimi), `functions.add <|constrain|>json` (gpt-oss): the name is in the first word. */
function nameIn(header: string): string {
  const word = header.trim().split(/[\s<]/, 1)[0] ?? "";
  return word.replace(/:\d+$/, "");
}
