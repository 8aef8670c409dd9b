// Infers the types of a tool's input from its schema.

import type { JsonSchema } from "./json-schema.ts";
import type { StandardSchema } from "./standard-schema.ts";

/** A parameter of the short form: a constructor, a JSON Schema fragment with flags, or a Standard Schema. */
export type ShortParameter = Constructor | StandardSchema | FlaggedSchema;

type Constructor =
  | StringConstructor
  | NumberConstructor
  | BooleanConstructor
  | ArrayConstructor
  | ObjectConstructor;

/** A JSON Schema fragment with flags that say whether the parameter is required. */
export interface FlaggedSchema {
  readonly type?: string | readonly string[];
  readonly optional?: boolean;
  readonly required?: boolean | readonly string[];
  readonly default?: unknown;
  readonly [keyword: string]: unknown;
}

/** The short form: parameters by name. */
export interface ShortSchema {
  readonly [parameter: string]: ShortParameter;
}

/** Everything that can describe a tool's input. */
export type InputSchema = StandardSchema | JsonSchema | ShortSchema;

/** A function where a parameter of the short form is described. The compiler shows this text. */
type NotAParameter =
  "A parameter is String, Number, Boolean, Array, Object, a JSON Schema fragment or a Standard Schema.";

// biome-ignore lint/suspicious/noExplicitAny: any function, and any class
type AnyFunction = ((...args: any) => any) | (abstract new (...args: any) => any);

/**
 * Refuses classes and functions that are no type of a parameter, such as `Date`: as a keyword of a JSON Schema they
 * would pass. To be intersected with the schema.
 */
export type CheckedSchema<S> = S extends StandardSchema
  ? unknown
  : {
      readonly [K in keyof S]: S[K] extends Constructor | StandardSchema
        ? unknown
        : S[K] extends AnyFunction
          ? NotAParameter
          : unknown;
    };

type Simplify<T> = { [K in keyof T]: T[K] } & {};
type Mutable<T> = T extends readonly (infer Item)[] ? Item[] : T;
type AnyObject = Record<string, unknown>;

interface TypeNames {
  string: string;
  number: number;
  integer: number;
  boolean: boolean;
  null: null;
  array: unknown[];
  object: AnyObject;
}

/** The type that a JSON Schema describes; `unknown` where types cannot express it. */
export type FromJsonSchema<S> = S extends { const: infer Value }
  ? Value
  : S extends { enum: readonly (infer Value)[] }
    ? Value
    : S extends { type: "object"; properties: infer P }
      ? FromProperties<P, S extends { required: readonly (infer Key)[] } ? Key : never>
      : S extends { type: "array"; items: infer Item }
        ? FromJsonSchema<Item>[]
        : S extends { type: infer Name }
          ? FromTypeName<Mutable<Name>>
          : unknown;

type FromTypeName<Name> = Name extends readonly (infer Each)[]
  ? FromTypeName<Each>
  : Name extends keyof TypeNames
    ? TypeNames[Name]
    : unknown;

type FromProperties<P, Required> = Simplify<
  { -readonly [K in keyof P as K extends Required ? K : never]: FromJsonSchema<P[K]> } & {
    -readonly [K in keyof P as K extends Required ? never : K]?: FromJsonSchema<P[K]>;
  }
>;

type FromParameter<P, Side extends "given" | "parsed"> = P extends StringConstructor
  ? string
  : P extends NumberConstructor
    ? number
    : P extends BooleanConstructor
      ? boolean
      : P extends ArrayConstructor
        ? unknown[]
        : P extends ObjectConstructor
          ? AnyObject
          : P extends StandardSchema<infer Given, infer Parsed>
            ? Side extends "given"
              ? Given
              : Parsed
            : FromJsonSchema<P>;

/** Whether a parameter of the short form may be left out by the caller, or be missing for the tool. */
type Missing<P, Side extends "given" | "parsed"> =
  // First, because Zod's schemas have methods of the names of our flags.
  P extends StandardSchema
    ? undefined extends FromParameter<P, Side>
      ? true
      : false
    : P extends { required: true }
      ? false
      : P extends { default: unknown }
        ? Side extends "given"
          ? true
          : false
        : P extends { required: false } | { optional: true }
          ? true
          : false;

type FromShort<S, Side extends "given" | "parsed"> = Simplify<
  { -readonly [K in keyof S as Missing<S[K], Side> extends true ? never : K]: FromParameter<S[K], Side> } & {
    -readonly [K in keyof S as Missing<S[K], Side> extends true ? K : never]?: FromParameter<S[K], Side>;
  }
>;

type Defaulted<P> = { [K in keyof P]: P[K] extends { default: unknown } ? K : never }[keyof P];
type Keys<S> = S extends { required: readonly (infer Key)[] } ? Key : never;

/** Decided as at run time: in the short form, a value is never a string or a list. */
type IsJsonSchema<S> = S extends
  | { type: string | readonly string[] }
  | { $ref: string }
  | { anyOf: readonly unknown[] }
  | { oneOf: readonly unknown[] }
  | { allOf: readonly unknown[] }
  ? true
  : false;

/** What a caller gives to a tool with this schema. */
export type GivenInput<S> = [S] extends [undefined]
  ? AnyObject
  : S extends StandardSchema<infer Given, unknown>
    ? Given
    : IsJsonSchema<S> extends true
      ? S extends { properties: infer P }
        ? FromProperties<P, Exclude<Keys<S>, Defaulted<P>>>
        : AnyObject
      : FromShort<S, "given">;

/** What the tool's function gets: validated, with defaults. */
export type ParsedInput<S> = [S] extends [undefined]
  ? AnyObject
  : S extends StandardSchema<unknown, infer Parsed>
    ? Parsed
    : IsJsonSchema<S> extends true
      ? S extends { properties: infer P }
        ? FromProperties<P, Keys<S> | Defaulted<P>>
        : AnyObject
      : FromShort<S, "parsed">;
