// Calls written as Python, `[add(a=1, b=2), now()]`: Llama 3.2 and 4 as the whole answer, LFM2 between tags.

import { parseJson } from "../../parse-json.ts";
import { repairJson } from "../../repair-json.ts";
import { type Cursor, literal, maxNameLength, type Reading, skipSpace } from "../cursor.ts";
import type { Dialect, DialectTools, TextCall } from "./dialect.ts";
import { readName, skipClose } from "./parts.ts";
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

export const taggedPythonic: Dialect = {
  openers: ["<|tool_call_start|>"],
  *read(cursor, tools) {
    if ((yield* skipSpace(cursor)) !== "[") return undefined;
    cursor.position++;
    const calls = yield* readList(cursor, tools);
    if (calls) yield* skipClose(cursor, "<|tool_call_end|>");
    return calls;
  },
};

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
  const call = (isCut: boolean) => ({ name, arguments: `{${[...members.values()].join(", ")}}`, isCut });
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
    if (json === undefined) return undefined;
    members.set(key, `${JSON.stringify(key)}: ${json}`);
  }
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

/** A Python literal as JSON. */
function toJson(text: string): string | undefined {
  const value = text.trim();
  const isJson = (json: string) => parseJson(json) !== undefined;
  const json = isJson(value) ? value : pythonToJson(value);
  if (isJson(json)) return json;
  try {
    const repaired = repairJson(value);
    return isJson(repaired) ? repaired : undefined;
  } catch {
    return undefined;
  }
}
