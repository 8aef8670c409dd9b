// Dialects of special tokens: a call begins, its name follows, then a separator and the arguments, then it ends.

import { type Cursor, literal, type Reading, skipSpace, untilSoon } from "../cursor.ts";
import { type Dialect, maxCalls, type OfferedTools, type TextCall } from "./dialect.ts";
import { readJson, skipFence } from "./json-call.ts";

interface Tokens {
  /** Around all calls; may be missing. */
  readonly sections: readonly string[];
  readonly begin: readonly string[];
  /** Between the name and the arguments. */
  readonly separator: string;
  readonly ends: readonly string[];
  /** After the last call. */
  readonly sectionEnds: readonly string[];
}

/** V3 writes `function<sep>name` and the arguments in a fence, V3.1 and later `name<sep>{…}`. */
export const deepseek = /* @__PURE__ */ sections({
  sections: ["<｜tool▁calls▁begin｜>", "<｜tool_calls_begin｜>"],
  begin: ["<｜tool▁call▁begin｜>", "<｜tool_call_begin｜>"],
  separator: "<｜tool▁sep｜>",
  ends: ["<｜tool▁call▁end｜>", "<｜tool_call_end｜>"],
  sectionEnds: ["<｜tool▁calls▁end｜>", "<｜tool_calls_end｜>"],
});

export const kimi = /* @__PURE__ */ sections({
  sections: ["<|tool_calls_section_begin|>"],
  begin: ["<|tool_call_begin|>"],
  separator: "<|tool_call_argument_begin|>",
  ends: ["<|tool_call_end|>"],
  sectionEnds: ["<|tool_calls_section_end|>"],
});

/** What of gpt-oss's own format a server lets through when it could not read it. */
export const harmony = /* @__PURE__ */ sections({
  sections: [],
  begin: ["<|channel|>commentary to=", "<|start|>assistant<|channel|>commentary to="],
  separator: "<|message|>",
  ends: ["<|call|>"],
  sectionEnds: [],
});

function sections(tokens: Tokens): Dialect {
  return {
    openers: [...tokens.sections, ...tokens.begin],
    *read(cursor, tools, opener) {
      const calls: TextCall[] = [];
      let hasBegun = tokens.begin.includes(opener);
      for (;;) {
        const end = cursor.offset;
        if (!hasBegun) {
          yield* skipSpace(cursor);
          const next = yield* literal(cursor, ...tokens.begin, ...tokens.sectionEnds);
          if (next === undefined || tokens.sectionEnds.includes(next)) {
            if (next === undefined) cursor.rewind(end);
            return calls.length > 0 ? calls : undefined;
          }
        }
        hasBegun = false;
        const call = yield* readCall(cursor, tools, tokens);
        if (!call) {
          // The calls before this one were good; what follows them is text.
          cursor.rewind(end);
          return calls.length > 0 ? calls : undefined;
        }
        calls.push(call);
        if (call.isCut || calls.length === maxCalls) return calls;
      }
    },
  };
}

function* readCall(cursor: Cursor, tools: OfferedTools, tokens: Tokens): Reading<TextCall | undefined> {
  const header = yield* untilSoon(cursor, tokens.separator, "\n");
  if (header?.stop !== tokens.separator) return undefined;
  let name = tools.match(nameIn(header.text));
  if (header.text === "function" && (yield* skipSpace(cursor)) !== "{") {
    const line = yield* untilSoon(cursor, "\n", "`", "{");
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
  if ((yield* skipSpace(cursor)) === "`") {
    yield* literal(cursor, "```");
    yield* skipSpace(cursor);
  }
  if ((yield* literal(cursor, ...tokens.ends)) === undefined) cursor.rewind(end);
  return { name, arguments: json.text, isCut: false };
}

/** `functions.add:0` (Kimi), `functions.add <|constrain|>json` (gpt-oss): the name is in the first word. */
function nameIn(header: string): string {
  const word = header.trim().split(/[\s<]/, 1)[0] ?? "";
  return word.replace(/:\d+$/, "");
}
