// Calls written as Python, `[add(a=1, b=2), now()]`: Llama 3.2 and 4 as the whole answer, others between tags.

import { parseJson } from "../../parse-json.ts";
import {
  type Cursor,
  literal,
  literalAfterSpace,
  maxNameLength,
  type Reading,
  skipSpace,
  until,
} from "../cursor.ts";
import { type Dialect, type DialectTools, doubtfulCall, type TextCall } from "./dialect.ts";
import { readJson } from "./json-call.ts";
import { readCallsInRow, readName } from "./parts.ts";
import { pythonToJson } from "./python-literal.ts";

export const pythonic: Dialect = {
  openers: ["["],
  isWholeAnswer: true,
  *read(cursor, tools) {
    const calls = yield* readList(cursor, tools);
    // If anything follows, the list was part of a text.
    return (yield* skipSpace(cursor)) === undefined ? calls : undefined;
  },
};

/** LFM2, Llama 4 and OLMo 3, which writes one call on each line. */
const closes: Readonly<Record<string, string>> = {
  "<|tool_call_start|>": "<|tool_call_end|>",
  "<|python_start|>": "<|python_end|>",
  "<function_calls>": "</function_calls>",
};

export const taggedPythonic: Dialect = {
  openers: Object.keys(closes),
  *read(cursor, tools, opener) {
    const close = closes[opener] as string;
    const calls = yield* readListOrLines(cursor, tools);
    if (!calls) return yield* readDoubtful(cursor, tools, opener.length, close);
    yield* literalAfterSpace(cursor, close);
    return calls;
  },
};

/** Between the tags, the name of a tool and a bracket are a call, even if its arguments cannot be read. */
function* readDoubtful(
  cursor: Cursor,
  tools: DialectTools,
  start: number,
  close: string,
): Reading<readonly TextCall[] | undefined> {
  cursor.rewind(start);
  yield* literalAfterSpace(cursor, "[");
  yield* skipSpace(cursor);
  const name = yield* readName(cursor, tools, "(");
  if (name === undefined || (yield* until(cursor, close)).stop === undefined) return undefined;
  return [doubtfulCall(name, "arguments that are not key=value with Python literals")];
}

/** Gemma 3's code block. It counts as the end of the answer: with text after it, it is an example. */
export const toolCode: Dialect = {
  openers: ["```tool_code"],
  *read(cursor, tools) {
    const calls = yield* readListOrLines(cursor, tools);
    if (!calls) return undefined;
    const isClosed = (yield* literalAfterSpace(cursor, "```")) !== undefined;
    if ((yield* skipSpace(cursor)) !== undefined) return undefined;
    return isClosed || calls.at(-1)?.isCut ? calls : undefined;
  },
};

function* readListOrLines(cursor: Cursor, tools: DialectTools): Reading<readonly TextCall[] | undefined> {
  if ((yield* skipSpace(cursor)) === "[") {
    cursor.position++;
    return yield* readList(cursor, tools);
  }
  return yield* readCallsInRow(
    cursor,
    function* () {
      yield* skipSpace(cursor);
      return true;
    },
    () => readLine(cursor, tools),
  );
}

/** `add(a=1)`, or `print(add(a=1))`. */
function* readLine(cursor: Cursor, tools: DialectTools): Reading<TextCall | undefined> {
  const isPrinted = (yield* literal(cursor, "print(")) !== undefined;
  const name = yield* readName(cursor, tools, "(");
  if (name === undefined) return undefined;
  const call = yield* readArguments(cursor, name);
  if (!call || call.isCut || !isPrinted) return call;
  return (yield* literalAfterSpace(cursor, ")")) === undefined ? undefined : call;
}

/** The cursor is after the `[`. */
function* readList(cursor: Cursor, tools: DialectTools): Reading<TextCall[] | undefined> {
  const calls: TextCall[] = [];
  for (;;) {
    yield* skipSpace(cursor);
    const name = yield* readName(cursor, tools, "(");
    if (name === undefined) return undefined;
    const call = yield* readArguments(cursor, name);
    if (!call) return undefined;
    calls.push(call);
    if (call.isCut) return calls;
    if ((yield* skipSpace(cursor)) === undefined) return calls;
    const next = yield* literal(cursor, ",", "]");
    if (next === "]") return calls;
    if (next === undefined) return undefined;
  }
}

function* readArguments(cursor: Cursor, name: string): Reading<TextCall | undefined> {
  const members = new Map<string, string>();
  let doubt: string | undefined;
  const call = (isCut: boolean) =>
    doubt === undefined || isCut
      ? { name, arguments: `{${[...members.values()].join(", ")}}`, isCut }
      : doubtfulCall(name, doubt);
  if ((yield* skipSpace(cursor)) === "{") return yield* readObjectArgument(cursor, name);
  for (;;) {
    const char = yield* skipSpace(cursor);
    if (char === undefined) return call(true);
    if (char === ")") {
      cursor.position++;
      return call(false);
    }
    if (char === ",") {
      cursor.position++;
      continue;
    }
    const key = yield* readKey(cursor);
    if (key === undefined) return call(true);
    // Python rejects duplicate keys: which one is meant is unknown.
    if (key === "" || members.has(key)) return undefined;
    const value = yield* readValue(cursor);
    if (value === undefined) return call(true);
    const json = toJson(value);
    if (json === undefined) doubt ??= `the value of ${key} is not a Python literal`;
    members.set(key, `${JSON.stringify(key)}: ${json ?? "null"}`);
  }
}

/** `add({"a": 1})`: all arguments as one object. */
function* readObjectArgument(cursor: Cursor, name: string): Reading<TextCall | undefined> {
  const json = yield* readJson(cursor);
  if (!json) return undefined;
  if (json.isCut) return { name, arguments: json.text, isCut: true };
  return (yield* literalAfterSpace(cursor, ")")) === undefined
    ? undefined
    : { name, arguments: json.text, isCut: false };
}

/** Undefined when the text ends before the `=`, and empty when this is not a key. */
function* readKey(cursor: Cursor): Reading<string | undefined> {
  let key = "";
  for (;;) {
    const char = yield* skipSpace(cursor);
    if (char === undefined) return undefined;
    cursor.position++;
    if (char === "=") return key;
    if (!/\w/.test(char) || key.length === maxNameLength) return "";
    key += char;
  }
}

/** Reads up to the `,` or `)` that ends the value. Undefined when the text ends before. */
function* readValue(cursor: Cursor): Reading<string | undefined> {
  const start = cursor.offset;
  let depth = 0;
  let quote = "";
  let isEscaped = false;
  for (;;) {
    if (cursor.position >= cursor.buffer.length) {
      if (cursor.isEnd) return undefined;
      yield;
      continue;
    }
    const char = cursor.buffer[cursor.position] as string;
    if (quote !== "") {
      if (isEscaped) isEscaped = false;
      else if (char === "\\") isEscaped = true;
      else if (char === quote) quote = "";
    } else if (char === '"' || char === "'") quote = char;
    else if ("([{".includes(char)) depth++;
    else if (depth === 0 && (char === "," || char === ")")) return cursor.slice(start, cursor.offset);
    else if (")]}".includes(char)) depth--;
    cursor.position++;
    cursor.work++;
  }
}

/** A Python literal as JSON. Undefined for anything else, such as an expression. */
function toJson(text: string): string | undefined {
  const value = text.trim();
  const isJson = (json: string) => parseJson(json) !== undefined;
  const json = isJson(value) ? value : pythonToJson(value);
  return isJson(json) ? json : undefined;
}
