// Gemma 4's dialect, `<|tool_call>call:name{key:<|"|>text<|"|>,other:1}<tool_call|>`, and FunctionGemma's, which has
// other tags and `<escape>` around text.

import { parseJson } from "../../parse-json.ts";
import { type Cursor, literalAfterSpace, peek, type Reading, skipSpace, until } from "../cursor.ts";
import { type Dialect, type DialectTools, doubtfulCall, type TextCall } from "./dialect.ts";
import { readCallsInRow, readName } from "./parts.ts";

/** Around text. */
const quotes = ['<|"|>', "<escape>"];
/** JSON that is neither text nor a list or object. To parse each value would throw an error for each that is not. */
const plainValue = /^(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)$/;
const closes = ["<tool_call|>", "<end_function_call>", "<|tool_response>", "<start_function_response>"];

export const gemma = /* @__PURE__ */ calls(["<|tool_call>call:", "<start_function_call>call:"], false);

/** Without the tags, which some servers strip: then it must be the whole answer. */
export const bareGemma = /* @__PURE__ */ calls(["call:"], true);

function calls(openers: readonly string[], isWholeAnswer: boolean): Dialect {
  return {
    openers,
    isWholeAnswer,
    *read(cursor, tools) {
      let hasBegun = true;
      const found = yield* readCallsInRow(
        cursor,
        function* () {
          const isFirst = hasBegun;
          hasBegun = false;
          return isFirst || (yield* literalAfterSpace(cursor, ...openers)) !== undefined;
        },
        () => readCall(cursor, tools),
      );
      return !isWholeAnswer || (yield* skipSpace(cursor)) === undefined ? found : undefined;
    },
  };
}

/** The cursor is at the name. */
function* readCall(cursor: Cursor, tools: DialectTools): Reading<TextCall | undefined> {
  const name = yield* readName(cursor, tools, "{");
  if (name === undefined) return undefined;
  const object = yield* readObject(cursor);
  if (object === undefined) return { name, arguments: "", isCut: true };
  const { json, hasTwice } = object;
  while ((yield* literalAfterSpace(cursor, ...closes)) !== undefined);
  if (hasTwice) return doubtfulCall(name, "a key occurs twice");
  if (parseJson(json) === undefined)
    return doubtfulCall(name, `text must be written as ${quotes[0]}text${quotes[0]}`);
  return { name, arguments: json, isCut: false };
}

/**
 * Reads up to the `}` that closes the object, as JSON; not JSON where it is in doubt. `hasTwice`: one key has two values.
 * Undefined when the text ends.
 */
function* readObject(cursor: Cursor): Reading<{ json: string; hasTwice: boolean } | undefined> {
  const open = ["{"];
  const keys: (Set<string> | undefined)[] = [undefined];
  let json = "{";
  let hasTwice = false;
  const takeKey = (key: string) => {
    const known = keys.at(-1);
    hasTwice ||= known?.has(key) === true;
    keys[keys.length - 1] = known?.add(key) ?? new Set([key]);
  };
  while (open.length > 0) {
    const { text, stop } = yield* until(cursor, ...quotes, '"', "{", "}", "[", "]");
    if (stop === undefined) break;
    json += membersOf(text, open.at(-1) === "{", takeKey);
    if (stop === "{" || stop === "[") {
      open.push(stop);
      keys.push(undefined);
      json += stop;
    } else if (stop === "}" || stop === "]") {
      open.pop();
      keys.pop();
      json += stop;
    } else {
      const value = stop === '"' ? yield* readString(cursor) : yield* until(cursor, stop);
      if (value.stop === undefined) break;
      json += JSON.stringify(value.text);
    }
  }
  cursor.endsInValue = open.length > 0;
  return open.length > 0 ? undefined : { json, hasTwice };
}

/** After a quotation mark, which models write instead of the token. */
function* readString(cursor: Cursor): Reading<{ text: string; stop: string | undefined }> {
  const start = cursor.offset - 1;
  for (;;) {
    const { stop } = yield* until(cursor, '"', "\\");
    if (stop === undefined) return { text: "", stop };
    if (stop === "\\") {
      if ((yield* peek(cursor)) === undefined) return { text: "", stop: undefined };
      cursor.position++;
      continue;
    }
    const raw = cursor.slice(start, cursor.offset);
    const value = parseJson(raw);
    return { text: typeof value === "string" ? value : raw.slice(1, -1), stop };
  }
}

/** Keys, and values that are not text, between commas. */
function membersOf(text: string, isObject: boolean, takeKey: (key: string) => void): string {
  return text
    .split(",")
    .map((part) => {
      const [label = "", key] = /^\s*([\w$-]+)\s*:/.exec(part) ?? [];
      if (key !== undefined) takeKey(key);
      const value = part.slice(label.length).trim();
      const member = key === undefined ? "" : `${JSON.stringify(key)}:`;
      if (value === "" || plainValue.test(value)) return member + value;
      // Some servers strip the tokens around text. Text with a comma or a colon in it cannot be told apart then.
      return key !== undefined || !isObject ? member + JSON.stringify(value) : value;
    })
    .join(",");
}
