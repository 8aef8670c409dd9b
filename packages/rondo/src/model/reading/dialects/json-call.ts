// Reads calls written as JSON objects, `{"name": …, "arguments": …}`, and stops as soon as it cannot be one.

import { isPlainObject } from "../../../error/check.ts";
import { parseJson } from "../../parse-json.ts";
import { type Cursor, literal, type Reading, skipSpace } from "../cursor.ts";
import { isClosedJson, type JsonMember, JsonScanner } from "../json-scanner.ts";
import type { DialectTools, TextCall } from "./dialect.ts";

const nameKeys = new Set(["name", "function", "tool", "tool_name", "function_name"]);
const argumentKeys = new Set(["arguments", "parameters", "args", "params", "input", "tool_input"]);
const otherKeys = new Set(["id", "type", "call_id", "tool_call_id", "index"]);
/** An object with more members is not a call. */
const maxMembers = 8;

export interface JsonCallOptions {
  /** Only its shape identifies it as a call, so the shape must be exact. Default: false. */
  readonly isBare?: boolean;
  /** The closing tag around it: with it, a missing brace does no harm. Default: none. */
  readonly close?: string;
  /** Whether it is `{"name": arguments}`. Default: false. */
  readonly isKeyed?: boolean;
}

/** The cursor is at the `{`. */
export function* readJsonCall(
  cursor: Cursor,
  tools: DialectTools,
  { isBare = false, close, isKeyed = false }: JsonCallOptions = {},
): Reading<TextCall | undefined> {
  const start = cursor.offset;
  const scanner = new JsonScanner({ keepsMembers: true });
  const parts = isKeyed ? new KeyedParts(cursor, tools) : new CallParts(cursor, tools, isBare);
  for (;;) {
    const { buffer, position } = cursor;
    cursor.position = scanner.scan(buffer, position, cursor.base, true);
    cursor.work += cursor.position - position;
    if (!parts.take(scanner.members)) return undefined;
    if (scanner.status !== "open") break;
    if (cursor.position < buffer.length) continue;
    if (cursor.isEnd) break;
    yield;
  }
  if (scanner.status === "complete") return parts.call("complete");
  cursor.endsInValue = scanner.status === "open";
  if (cursor.endsInValue) return parts.call("cut");
  if (isBare || close === undefined || cursor.offset === start) return undefined;
  // A missing brace is common, and the tag shows where the call ends.
  const end = cursor.offset;
  if ((yield* literal(cursor, close)) === undefined) return undefined;
  return parts.call("closed", end);
}

/** Reads a JSON object or list of any content, such as the arguments alone. */
export function* readJson(cursor: Cursor): Reading<{ text: string; isCut: boolean } | undefined> {
  const start = cursor.offset;
  const scanner = new JsonScanner();
  for (;;) {
    const { buffer, position } = cursor;
    cursor.position = scanner.scan(buffer, position, cursor.base);
    cursor.work += cursor.position - position;
    if (scanner.status !== "open" || cursor.isEnd) break;
    yield;
  }
  if (scanner.status === "invalid") return undefined;
  return { text: cursor.slice(start, cursor.offset), isCut: scanner.status === "open" };
}

/** Reads `[{…}, {…}]`. The cursor is at the `[`. */
export function* readJsonCalls(
  cursor: Cursor,
  tools: DialectTools,
  options: JsonCallOptions = {},
): Reading<TextCall[] | undefined> {
  const calls: TextCall[] = [];
  cursor.position++;
  for (;;) {
    const char = yield* skipSpace(cursor);
    if (char === "{") {
      const call = yield* readJsonCall(cursor, tools, options);
      if (!call) return undefined;
      calls.push(call);
    } else if (char === "," && calls.length > 0) cursor.position++;
    else if (char === "]" && calls.length > 0) {
      cursor.position++;
      return calls;
    } else return char === undefined && calls.length > 0 ? calls : undefined;
  }
}

/** The members of the object, checked as they arrive. */
class CallParts {
  #name: string | undefined;
  #arguments: JsonMember | undefined;
  #taken = 0;
  readonly #cursor: Cursor;
  readonly #tools: DialectTools;
  readonly #isBare: boolean;

  constructor(cursor: Cursor, tools: DialectTools, isBare = false) {
    this.#cursor = cursor;
    this.#tools = tools;
    this.#isBare = isBare;
  }

  /** Takes a member whose key is the name. False when it is not an offered one. */
  protected takeKeyed(member: JsonMember): boolean {
    this.#name ??= this.#tools.match(unquote(this.#cursor.slice(member.keyStart, member.keyEnd)));
    this.#arguments = member;
    return this.#name !== undefined;
  }

  /** False when this is not a call. */
  take(members: readonly JsonMember[]): boolean {
    if (members.length > maxMembers) return false;
    for (; this.#taken < members.length; this.#taken++) {
      const member = members[this.#taken] as JsonMember;
      const key = unquote(this.#cursor.slice(member.keyStart, member.keyEnd));
      if (argumentKeys.has(key)) {
        this.#arguments ??= member;
      } else if (nameKeys.has(key)) {
        if (member.valueEnd === undefined) return true;
        if (!this.#takeName(member)) return false;
      } else if (this.#isBare && !otherKeys.has(key)) return false;
    }
    return true;
  }

  #takeName({ valueStart, valueEnd }: JsonMember): boolean {
    const value = this.#cursor.slice(valueStart as number, valueEnd);
    if (!value.startsWith("{")) {
      this.#name ??= this.#tools.match(unquote(value));
      return this.#name !== undefined;
    }
    return this.#takeFunction(value, valueStart as number);
  }

  /** `{"type": "function", "function": {"name": …, "arguments": …}}`, as servers write it. */
  #takeFunction(text: string, base: number): boolean {
    const scanner = new JsonScanner({ keepsMembers: true });
    for (let at = 0; scanner.status === "open" && at < text.length; ) {
      at = scanner.scan(text, at, base, true);
      if (scanner.members.length > maxMembers) return false;
    }
    this.#cursor.work += text.length;
    for (const member of scanner.members) {
      const key = unquote(this.#cursor.slice(member.keyStart, member.keyEnd));
      if (argumentKeys.has(key)) this.#arguments ??= member;
      else if (key === "name" && member.valueStart !== undefined)
        this.#name = this.#tools.match(unquote(this.#cursor.slice(member.valueStart, member.valueEnd)));
    }
    return this.#name !== undefined;
  }

  /** The call, if there is one. In an object that the markup closed, the last value ends at `end`. */
  call(state: "complete" | "cut" | "closed", end?: number): TextCall | undefined {
    const name = this.#name;
    if (name === undefined) return undefined;
    const isCut = state === "cut";
    const { valueStart, valueEnd = end } = this.#arguments ?? {};
    if (valueStart === undefined)
      return this.#isBare || state === "closed" ? undefined : { name, arguments: isCut ? "" : "{}", isCut };
    if (isCut) return { name, arguments: this.#cursor.slice(valueStart), isCut };
    const text = this.#cursor.slice(valueStart, valueEnd).trim();
    if (this.#isBare && ((!text.startsWith("{") && text !== "null") || isSchema(text))) return undefined;
    return { name, arguments: decoded(text), isCut };
  }
}

/** The one member of `{"name": arguments}`. */
class KeyedParts extends CallParts {
  override take([member, ...others]: readonly JsonMember[]): boolean {
    return others.length === 0 && (member === undefined || this.takeKeyed(member));
  }
}

/** Whether these are the parameters of a definition, which models are asked to write too. */
function isSchema(text: string): boolean {
  if (!text.includes('"properties"')) return false;
  const value = parseJson(text);
  return isPlainObject(value) && value["type"] === "object" && isPlainObject(value["properties"]);
}

/** Arguments may be a string that contains JSON, as in the API of servers. */
function decoded(text: string): string {
  if (!text.startsWith('"') && !text.startsWith("'")) return text;
  const inner = unquote(text);
  return isClosedJson(inner) ? inner : text;
}

function unquote(text: string): string {
  if (!/^["']/.test(text)) return text;
  const value = parseJson(text);
  // A string that is broken inside is used as it stands.
  return typeof value === "string" ? value : text.slice(1, -1);
}
