// Values to JSON and back without losing anything, or a clear error. What JSON cannot say is written as
// `{ "$rondo": tag, "value": … }`.

import { isPlainObject } from "../error/check.ts";
import { InvalidJsonError, UnserializableError } from "../error/json-errors.ts";
import { setOwn } from "./copy.ts";
import type { JsonObject, JsonValue } from "./json-value.ts";

const tagKey = "$rondo";
const base64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** How values of one class are written and read. `Scope` is what the reader needs besides the data. */
export interface JsonType<T, Scope = unknown> {
  /** Marks the value in JSON. */
  readonly tag: string;
  is(value: unknown): value is T;
  encode(value: T, path: string): JsonValue;
  decode(json: JsonValue, scope: Scope, path: string): T;
}

const types = new Map<string, JsonType<unknown>>();

/** Adds a class to what can be saved. Each tag belongs to one class. */
export function defineJsonType<T, Scope>(type: JsonType<T, Scope>): void {
  types.set(type.tag, type);
}

/** Turns any value into JSON. `path` says where it stands, for the error when it cannot be saved. */
export function encode(value: unknown, path: string): JsonValue {
  try {
    return encodeWithin(value, path, []);
  } catch (error) {
    if (error instanceof RangeError) throw new UnserializableError(path, value, "it is nested too deeply");
    throw error;
  }
}

/** Turns what `encode` has made back into the value. */
export function decode(json: unknown, scope: unknown, path: string): unknown {
  if (Array.isArray(json)) return json.map((item, index) => decode(item, scope, `${path}[${index}]`));
  if (typeof json !== "object" || json === null) return json;
  const object = json as JsonObject;
  if (!Object.hasOwn(object, tagKey)) return decodeEntries(object, scope, path);
  return decodeTagged(object[tagKey], object["value"] ?? null, scope, path);
}

function encodeWithin(value: unknown, path: string, parents: readonly object[]): JsonValue {
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

function encodeObject(value: object, path: string, parents: readonly object[]): JsonValue {
  if (parents.includes(value)) throw new UnserializableError(path, value, "it contains itself");
  const within = [...parents, value];
  const encodeList = (items: Iterable<unknown>) =>
    Array.from(items, (item, index) => encodeWithin(item, `${path}[${index}]`, within));

  if (isPlainObject(value)) return encodeEntries(value, path, within);
  // By prototype and not with instanceof: a subclass would come back as something else.
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

// Values of such types that are being written. They call encode() anew for what they hold, so the list of
// parents does not reach through them.
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

function encodeEntries(value: Record<string, unknown>, path: string, within: readonly object[]): JsonValue {
  if (Object.getOwnPropertySymbols(value).length > 0)
    throw new UnserializableError(path, value, "a symbol is no key in JSON");
  const object: JsonObject = {};
  for (const key of Object.keys(value)) {
    if (value[key] === undefined) continue; // in an object, absent and undefined mean the same
    setOwn(object, key, encodeWithin(value[key], `${path}.${key}`, within));
  }
  return Object.hasOwn(object, tagKey) ? tagged("object", object) : object;
}

function decodeEntries(object: JsonObject, scope: unknown, path: string): Record<string, unknown> {
  const value: Record<string, unknown> = {};
  for (const key of Object.keys(object)) setOwn(value, key, decode(object[key], scope, `${path}.${key}`));
  return value;
}

function decodeTagged(tag: unknown, json: JsonValue, scope: unknown, path: string): unknown {
  const refuse = (): never => {
    throw new InvalidJsonError(path, `the data of a saved ${String(tag)}`, json);
  };
  const list = (): unknown[] => {
    if (!Array.isArray(json)) return refuse();
    return json.map((item, index) => decode(item, scope, `${path}[${index}]`));
  };
  switch (tag) {
    case "undefined":
      return undefined;
    case "object":
      if (!isPlainObject(json)) return refuse();
      return decodeEntries(json, scope, path);
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
      if (typeof json !== "string" || !base64.test(json)) return refuse();
      return fromBase64(json);
  }
  const type = types.get(tag as string);
  if (!type) throw new InvalidJsonError(path, "a kind of value that this version knows", tag);
  return type.decode(json, scope, path);
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
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
}

function fromBase64(text: string): Uint8Array {
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
}
