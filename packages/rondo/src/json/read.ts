// Reads saved data field by field; errors name the exact place.

import { isPlainObject } from "../error/check.ts";
import { InvalidJsonError } from "../error/json-errors.ts";

/** The version of all saved formats. Readers accept this one and older ones, and reject newer ones. */
export const formatVersion = 1;

/** A saved object: checks its version, and the type of each field that is read. */
export class SavedObject {
  readonly path: string;
  readonly #data: Record<string, unknown>;

  constructor(data: unknown, path: string) {
    if (!isPlainObject(data)) throw new InvalidJsonError(path, "an object", data);
    const version = data["version"] ?? formatVersion;
    if (!Number.isInteger(version) || (version as number) < 1 || (version as number) > formatVersion)
      throw new InvalidJsonError(`${path}.version`, `a format version from 1 to ${formatVersion}`, version);
    this.path = path;
    this.#data = data;
  }

  pathOf(key: string): string {
    return `${this.path}.${key}`;
  }

  /** The unchecked field; `undefined` also for `null`. */
  raw(key: string): unknown {
    return this.#data[key] ?? undefined;
  }

  /** Whether the field exists, even if it is `null`. */
  has(key: string): boolean {
    return Object.hasOwn(this.#data, key);
  }

  /** Whether the field is `null`, and not absent. */
  isNull(key: string): boolean {
    return this.#data[key] === null;
  }

  string(key: string): string {
    const value = this.optionalString(key);
    if (value === undefined) throw new InvalidJsonError(this.pathOf(key), "a string", this.#data[key]);
    return value;
  }

  optionalString(key: string): string | undefined {
    return this.#typed(key, "a string", (value): value is string => typeof value === "string");
  }

  number(key: string): number | undefined {
    return this.#typed(key, "a number", (value): value is number => typeof value === "number");
  }

  /** A number that also passes a check of its value. */
  numberThat(key: string, expected: string, fits: (value: number) => boolean): number | undefined {
    const value = this.number(key);
    if (value === undefined || fits(value)) return value;
    throw new InvalidJsonError(this.pathOf(key), expected, value);
  }

  boolean(key: string): boolean | undefined {
    return this.#typed(key, "true or false", (value): value is boolean => typeof value === "boolean");
  }

  date(key: string): Date | undefined {
    const text = this.optionalString(key);
    if (text === undefined) return undefined;
    const date = new Date(text);
    if (Number.isNaN(date.getTime())) throw new InvalidJsonError(this.pathOf(key), "an ISO date", text);
    return date;
  }

  list(key: string): unknown[] {
    const isList = (value: unknown): value is unknown[] => Array.isArray(value);
    return this.#typed(key, "a list", isList) ?? [];
  }

  strings(key: string): string[] {
    const list = this.list(key);
    const wrong = list.findIndex((item) => typeof item !== "string");
    if (wrong >= 0) throw new InvalidJsonError(`${this.pathOf(key)}[${wrong}]`, "a string", list[wrong]);
    return list as string[];
  }

  #typed<T>(key: string, expected: string, is: (value: unknown) => value is T): T | undefined {
    const value = this.raw(key);
    if (value === undefined || is(value)) return value;
    throw new InvalidJsonError(this.pathOf(key), expected, value);
  }
}
