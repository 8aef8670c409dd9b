// The name of a tool and its arguments as JSON, `add{"a": 1}`: what is left of several dialects if a server strips
// their tokens, and Functionary's own. Nothing but the offered name identifies it, so it must be the whole answer.

import { parseJson } from "../../parse-json.ts";
import {
  type Cursor,
  literal,
  literalAfterSpace,
  maxNameLength,
  peek,
  type Reading,
  skipSpace,
  untilWithinName,
} from "../cursor.ts";
import type { Dialect, DialectTools, TextCall } from "./dialect.ts";
import { readJson } from "./json-call.ts";
import { readCallsInRow, skipFence } from "./parts.ts";

/** `functions.add:0{…}` (Kimi), `add[ARGS]{…}` (Mistral), `add\n{…}` (Functionary), `functionadd` and a fence (DeepSeek). */
export const namedJson: Dialect = {
  openers: [""],
  isWholeAnswer: true,
  *read(cursor, tools) {
    // Any answer may begin so: nothing is held back that cannot become a name.
    return (yield* mayBeNamed(cursor, tools)) ? yield* readAll(cursor, tools, []) : undefined;
  },
};

/** What may stand before the name. */
const prefixes = ["functions.", "function"];

/** Looks at the first word, as it arrives. */
function* mayBeNamed(cursor: Cursor, tools: DialectTools): Reading<boolean> {
  for (;;) {
    const word =
      /^[\w.-]*/.exec(cursor.buffer.slice(cursor.position, cursor.position + maxNameLength))?.[0] ?? "";
    const lowered = word.toLowerCase();
    const prefix = prefixes.find((candidate) => lowered.startsWith(candidate)) ?? "";
    const isPossible =
      word !== "" &&
      (tools.mayBegin(word) ||
        tools.mayBegin(word.slice(prefix.length)) ||
        prefixes.some((candidate) => candidate.startsWith(lowered)));
    if (!isPossible || cursor.isEnd || cursor.position + word.length < cursor.buffer.length)
      return isPossible;
    yield;
  }
}

/** Functionary's recipients. The first `>>>` is in the prompt. With a space it is the prompt of Python's shell. */
export const recipients: Dialect = {
  openers: [">>>"],
  *read(cursor, tools) {
    return (yield* peek(cursor)) === " " ? undefined : yield* readAll(cursor, tools, []);
  },
};

/** gpt-oss without its tokens: `commentary to=functions.add json{…}`. */
export const bareHarmony: Dialect = {
  openers: ["commentary to=functions.", "analysis to=functions.", "to="],
  isWholeAnswer: true,
  read: (cursor, tools) => readAll(cursor, tools, ["json", "code"]),
};
/** The same after other channels, whose text runs into it. */
export const lateBareHarmony: Dialect = {
  openers: ["assistantcommentary to=functions."],
  read: (cursor, tools, opener) => bareHarmony.read(cursor, tools, opener),
};

function* readAll(
  cursor: Cursor,
  tools: DialectTools,
  words: readonly string[],
): Reading<readonly TextCall[] | undefined> {
  const calls = yield* readCallsInRow(
    cursor,
    function* () {
      yield* literalAfterSpace(cursor, ">>>", "[TOOL_CALLS]", "assistantcommentary to=");
      yield* skipSpace(cursor);
      return true;
    },
    () => readNamed(cursor, tools, words),
  );
  return (yield* skipSpace(cursor)) === undefined ? calls : undefined;
}

function* readNamed(
  cursor: Cursor,
  tools: DialectTools,
  words: readonly string[],
): Reading<TextCall | undefined> {
  const header = yield* untilWithinName(cursor, "{", "\n", " ", "[ARGS]");
  if (header?.stop === undefined) return undefined;
  if (header.stop === "{") cursor.position--;
  const label = header.text.replace(/:\d+$/, "");
  // Without their tokens, DeepSeek's word and gpt-oss's channel run into the name.
  const name = [label, label.replace(/^function/, ""), label.replace(/(?:commentary|analysis)$/, "")]
    .map((candidate) => tools.match(candidate))
    .find((found) => found !== undefined);
  if (name === undefined) return undefined;
  yield* skipSpace(cursor);
  for (const word of words) yield* literal(cursor, word);
  if ((yield* skipFence(cursor)) !== "{") return undefined;
  const json = yield* readJson(cursor);
  if (!json) return undefined;
  if (!json.isCut) yield* literalAfterSpace(cursor, "```");
  return { name, arguments: argumentsIn(json.text, name, tools), isCut: json.isCut };
}

/** Inkling repeats the name: `add{"name": "add", "args": {…}}`. */
function argumentsIn(text: string, name: string, tools: DialectTools): string {
  const value = parseJson(text) as { name?: unknown; args?: unknown } | undefined;
  const isWrapped =
    typeof value?.name === "string" && typeof value.args === "object" && tools.match(value.name) === name;
  return isWrapped ? JSON.stringify(value.args) : text;
}
