// Lossless encoding of values as JSON. What JSON lacks is written as `{ "$rondo": tag, "value": … }`; what cannot be
// encoded is an error.

import { isPlainObject } from "../error/check.ts";
import { InvalidJsonError, UnserializableError } from "../error/json-errors.ts";
import { setOwn } from "./copy.ts";
import { maxDataDepth } from "./depth.ts";
import type { JsonObject, JsonValue } from "./json-value.ts";

const tagKey = "$rondo";
/** Bytes per `String.fromCharCode` call: the number of arguments of a call is limited. */
const chunkBytes = 8192;

/** How values of one class are encoded. `Scope` is what decoding needs besides the data. */
export interface JsonType<T, Scope = unknown> {
  /** Marks the value in JSON. */
  readonly tag: string;
  is(value: unknown): value is T;
  encode(value: T, path: string): JsonValue;
  decode(json: JsonValue, scope: Scope, path: string): T;
}

const types = new Map<string, JsonType<unknown>>();

/** Makes a class encodable. Each tag belongs to one class. */
export function defineJsonType<T, Scope>(type: JsonType<T, Scope>): void {
  types.set(type.tag, type);
}

/** Turns any value into JSON. `path` is its place in the data, for errors. */
export function encode(value: unknown, path: string): JsonValue {
  try {
    return encodeWithin(value, path, new Set());
  } catch (error) {
    // Nested values of a `JsonType`, such as turns in turns, count their depth separately.
    if (error instanceof RangeError) throw new UnserializableError(path, value, tooDeep);
    throw error;
  }
}

const tooDeep = `it is nested more than ${maxDataDepth} levels deep`;

/** The inverse of `encode`. */
export function decode(json: unknown, scope: unknown, path: string): unknown {
  try {
    return decodeWithin(json, { scope, depth: 0 }, path);
  } catch (error) {
    if (error instanceof RangeError) throw tooDeepToRead(path, json);
    throw error;
  }
}

interface Reading {
  readonly scope: unknown;
  readonly depth: number;
}

function tooDeepToRead(path: string, json: unknown): InvalidJsonError {
  return new InvalidJsonError(path, `data of at most ${maxDataDepth} levels`, json);
}

function decodeWithin(json: unknown, outer: Reading, path: string): unknown {
  if (typeof json !== "object" || json === null) return json;
  const reading = { scope: outer.scope, depth: outer.depth + 1 };
  // Without the path, which would be as long.
  if (reading.depth > maxDataDepth) throw new RangeError();
  if (Array.isArray(json)) return json.map((item, index) => decodeWithin(item, reading, `${path}[${index}]`));
  const object = json as JsonObject;
  if (!Object.hasOwn(object, tagKey)) return decodeEntries(object, reading, path);
  return decodeTagged(object[tagKey], object["value"] ?? null, reading, path);
}

function encodeWithin(value: unknown, path: string, parents: Set<object>): JsonValue {
  switch (typeof value) {
    case "string":
    case "boolean":
      return value;
    case "number":
      return Number.isFinite(value) && !Object.is(value, -0) ? value : tagged("number", numberText(value));
    case "bigint":
      return tagged("bigint", value.toString());
    case "undefined":
      return tagged("undefined", null);
    case "object":
      return value === null ? null : encodeObject(value, path, parents);
    default:
      throw new UnserializableError(path, value);
  }
}

function encodeObject(value: object, path: string, parents: Set<object>): JsonValue {
  if (parents.has(value)) throw new UnserializableError(path, value, "it contains itself");
  if (parents.size >= maxDataDepth) throw new RangeError();
  parents.add(value);
  const encoded = encodeContents(value, path, parents);
  parents.delete(value);
  return encoded;
}

function encodeContents(value: object, path: string, within: Set<object>): JsonValue {
  const encodeList = (items: Iterable<unknown>) =>
    Array.from(items, (item, index) => encodeWithin(item, `${path}[${index}]`, within));
  if (isPlainObject(value)) return encodeEntries(value, path, within);

  // By prototype, not instanceof: a subclass would be decoded as another class.
  switch (Object.getPrototypeOf(value)) {
    case Array.prototype:
      return encodeList(value as unknown[]);
    case Date.prototype:
      if (Number.isNaN((value as Date).getTime())) break;
      return tagged("date", (value as Date).toISOString());
    case Map.prototype:
      return tagged("map", encodeList(value as Map<unknown, unknown>));
    case Set.prototype:
      return tagged("set", encodeList(value as Set<unknown>));
    case Uint8Array.prototype:
      return tagged("bytes", toBase64(value as Uint8Array));
  }
  for (const type of types.values()) if (type.is(value)) return encodeTyped(type, value, path);
  throw new UnserializableError(path, value);
}

// Values of a `JsonType` being encoded. They call encode() for what they hold, so they are not among the parents.
const open: object[] = [];

function encodeTyped(type: JsonType<unknown>, value: object, path: string): JsonValue {
  if (open.includes(value)) throw new UnserializableError(path, value, "it contains itself");
  open.push(value);
  try {
    return tagged(type.tag, type.encode(value, path));
  } finally {
    open.pop();
  }
}

function encodeEntries(value: Record<string, unknown>, path: string, within: Set<object>): JsonValue {
  if (Object.getOwnPropertySymbols(value).length > 0)
    throw new UnserializableError(path, value, "a symbol cannot be a key in JSON");
  const object: JsonObject = {};
  for (const key of Object.keys(value))
    setOwn(object, key, encodeWithin(value[key], `${path}.${key}`, within));
  return Object.hasOwn(object, tagKey) ? tagged("object", object) : object;
}

function decodeEntries(object: JsonObject, reading: Reading, path: string): Record<string, unknown> {
  const value: Record<string, unknown> = {};
  for (const key of Object.keys(object))
    setOwn(value, key, decodeWithin(object[key], reading, `${path}.${key}`));
  return value;
}

function decodeTagged(tag: unknown, json: JsonValue, reading: Reading, path: string): unknown {
  const refuse = (): never => {
    throw new InvalidJsonError(path, `the data of a saved ${String(tag)}`, json);
  };
  const list = (): unknown[] => {
    if (!Array.isArray(json)) return refuse();
    return json.map((item, index) => decodeWithin(item, reading, `${path}[${index}]`));
  };
  switch (tag) {
    case "undefined":
      return undefined;
    case "object":
      if (!isPlainObject(json)) return refuse();
      return decodeEntries(json, reading, path);
    case "number":
      if (!["NaN", "Infinity", "-Infinity", "-0"].includes(json as string)) return refuse();
      return Number(json);
    case "bigint":
      if (typeof json !== "string" || !/^-?\d+$/.test(json)) return refuse();
      return BigInt(json);
    case "date": {
      const date = new Date(typeof json === "string" ? json : Number.NaN);
      if (Number.isNaN(date.getTime())) return refuse();
      return date;
    }
    case "map":
      return new Map(list().map((entry) => (isPair(entry) ? entry : refuse())));
    case "set":
      return new Set(list());
    case "bytes":
      if (typeof json !== "string" || !isBase64(json)) return refuse();
      return fromBase64(json);
  }
  const type = types.get(tag as string);
  if (!type) throw new InvalidJsonError(path, "a kind of value that this version knows", tag);
  return type.decode(json, reading.scope, path);
}

function isPair(value: unknown): value is [unknown, unknown] {
  return Array.isArray(value) && value.length === 2;
}

function tagged(tag: string, value: JsonValue): JsonObject {
  return { [tagKey]: tag, value };
}

function numberText(value: number): string {
  return Object.is(value, -0) ? "-0" : String(value);
}

function toBase64(bytes: Uint8Array): string {
  let text = "";
  for (let start = 0; start < bytes.length; start += chunkBytes)
    text += String.fromCharCode(...bytes.subarray(start, start + chunkBytes));
  return btoa(text);
}

/** Not one expression for the whole text: it would backtrack until the stack overflows. */
function isBase64(text: string): boolean {
  return text.length % 4 === 0 && !/[^A-Za-z0-9+/]/.test(text.replace(/={1,2}$/, ""));
}

function fromBase64(text: string): Uint8Array {
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
}
