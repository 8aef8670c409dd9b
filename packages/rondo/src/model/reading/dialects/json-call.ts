// Reads one call written as a JSON object, `{"name": …, "arguments": …}`, and gives up as soon as it cannot be one.

import { type Cursor, literal, peek, type Reading, skipSpace } from "../cursor.ts";
import { isClosedJson, type JsonMember, JsonScanner } from "../json-scanner.ts";
import type { OfferedTools, TextCall } from "./dialect.ts";

const nameKeys = new Set(["name", "function", "tool", "tool_name", "function_name"]);
const argumentKeys = new Set(["arguments", "parameters", "args", "params", "input", "tool_input"]);
const otherKeys = new Set(["id", "type", "call_id", "tool_call_id", "index"]);
/** A call has few members; something with more is something else. */
const maxMembers = 8;

export interface JsonCallOptions {
  /** Nothing but its shape says that it is a call, so the shape must be exact. */
  readonly isBare?: boolean;
  /** Where the markup around it ends: then a missing brace does no harm. */
  readonly close?: string;
}

/** The cursor stands at the `{`. */
export function* readJsonCall(
  cursor: Cursor,
  tools: OfferedTools,
  { isBare = false, close }: JsonCallOptions = {},
): Reading<TextCall | undefined> {
  const start = cursor.offset;
  const scanner = new JsonScanner({ keepsMembers: true });
  const parts = new CallParts(cursor, tools, isBare);
  for (;;) {
    const { buffer, position } = cursor;
    cursor.position = scanner.scanPart(buffer, position, cursor.base);
    cursor.work += cursor.position - position;
    if (!parts.take(scanner.members)) return undefined;
    if (scanner.status !== "open") break;
    if (cursor.position < buffer.length) continue;
    if (cursor.isEnd) break;
    yield;
  }
  if (scanner.status === "complete") return parts.call(isBare);
  cursor.endsInValue = scanner.status === "open";
  if (cursor.endsInValue) return parts.cutCall(isBare);
  if (isBare || close === undefined || cursor.offset === start) return undefined;
  // A brace too few is common, and the tag says where the call ends.
  const end = cursor.offset;
  if ((yield* literal(cursor, close)) === undefined) return undefined;
  return parts.closedCall(end);
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

/** Reads `[{…}, {…}]`, the cursor being at the `[`. */
export function* readJsonCalls(
  cursor: Cursor,
  tools: OfferedTools,
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

/** Reads the closing tag, if it comes; a brace too many before it does no harm. */
export function* skipClose(cursor: Cursor, ...closes: readonly string[]): Reading<void> {
  const padded = closes.flatMap((close) => [
    close,
    `}${close}`,
    `}\n${close}`,
    `\`\`\`\n${close}`,
    `\`\`\`${close}`,
  ]);
  yield* skipSpaceBefore(cursor, padded);
}

/** Reads white space only if one of the texts follows it: otherwise it belongs to the text. */
function* skipSpaceBefore(cursor: Cursor, texts: readonly string[]): Reading<void> {
  const before = cursor.offset;
  yield* skipSpace(cursor);
  if ((yield* literal(cursor, ...texts)) === undefined) cursor.rewind(before);
}

/** Reads over a Markdown fence that some models put around their JSON, and gives the next character. */
export function* skipFence(cursor: Cursor): Reading<string | undefined> {
  const char = yield* skipSpace(cursor);
  if (char !== "`") return char;
  yield* literal(cursor, "```json", "```");
  yield* skipSpace(cursor);
  return yield* peek(cursor);
}

/** The members of the object, judged as they become complete. */
class CallParts {
  #name: string | undefined;
  #arguments: JsonMember | undefined;
  #taken = 0;
  readonly #cursor: Cursor;
  readonly #tools: OfferedTools;
  readonly #isBare: boolean;

  constructor(cursor: Cursor, tools: OfferedTools, isBare: boolean) {
    this.#cursor = cursor;
    this.#tools = tools;
    this.#isBare = isBare;
  }

  /** False when this is no call. */
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
      at = scanner.scanPart(text, at, base);
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

  call(needsArguments: boolean): TextCall | undefined {
    if (this.#name === undefined) return undefined;
    if (this.#arguments === undefined)
      return needsArguments ? undefined : { name: this.#name, arguments: "{}", isCut: false };
    const { valueStart, valueEnd } = this.#arguments;
    const text = this.#cursor.slice(valueStart as number, valueEnd);
    if (this.#isBare && !text.startsWith("{") && text !== "null") return undefined;
    return { name: this.#name, arguments: decoded(text), isCut: false };
  }

  cutCall(needsArguments: boolean): TextCall | undefined {
    if (this.#name === undefined) return undefined;
    const start = this.#arguments?.valueStart;
    if (start === undefined)
      return needsArguments ? undefined : { name: this.#name, arguments: "", isCut: true };
    return { name: this.#name, arguments: this.#cursor.slice(start), isCut: true };
  }

  closedCall(end: number): TextCall | undefined {
    if (this.#name === undefined || this.#arguments?.valueStart === undefined) return undefined;
    const { valueStart, valueEnd = end } = this.#arguments;
    return {
      name: this.#name,
      arguments: decoded(this.#cursor.slice(valueStart, valueEnd).trim()),
      isCut: false,
    };
  }
}

/** Arguments may be a string that holds JSON, as in the API of servers. */
function decoded(text: string): string {
  if (!text.startsWith('"') && !text.startsWith("'")) return text;
  const inner = unquote(text);
  return isClosedJson(inner) ? inner : text;
}

function unquote(text: string): string {
  const quote = text[0];
  if (quote === '"') {
    try {
      return String(JSON.parse(text));
    } catch {
      // Broken inside: as it stands is the best there is.
    }
  }
  return quote === '"' || quote === "'" ? text.slice(1, -1) : text;
}
