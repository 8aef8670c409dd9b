// `tool()`: checks a definition, then creates the tool and registers it.

import { type FunctionKind, functionKind } from "../async/async-function.ts";
import type { Lazy } from "../async/lazy.ts";
import { InvalidArgumentError, InvalidTypeError } from "../error/argument-errors.ts";
import {
  checkBoolean,
  checkDuration,
  checkName,
  checkOptions,
  checkString,
  isPlainObject,
} from "../error/check.ts";
import { toTags } from "../hook/tags.ts";
import { copyData } from "../json/copy.ts";
import { isTooDeep, maxDataDepth } from "../json/depth.ts";
import { chooseRegistry, type RegistryOption } from "../registry/registry-option.ts";
import { checkFixed } from "./fixed.ts";
import type { CheckedSchema, GivenInput, InputSchema, ParsedInput } from "./infer.ts";
import { compileInput } from "./input-schema.ts";
import type { JsonSchema } from "./json-schema.ts";
import { isStandardSchema, type StandardSchema, standardToJsonSchema } from "./standard-schema.ts";
import { AnyTool, type Tool, type ToolDefinition } from "./tool.ts";
import type { ToolContext } from "./tool-context.ts";

type Schema = InputSchema | undefined;
type FixedFor<S> = { readonly [K in keyof GivenInput<S>]?: Lazy<GivenInput<S>[K]> };
type Callers<S, F> = Without<GivenInput<S>, keyof F>;
// Not `Omit`, which keeps only the common keys of a union.
type Without<Input, Key> = Input extends object
  ? { [K in keyof Input as K extends Key ? never : K]: Input[K] }
  : never;
// biome-ignore lint/complexity/noBannedTypes: no fixed argument at all
type NoFixed = {};

/** The options of a subtool: those of a tool, except `registry`, which is its parent's. */
export interface SubtoolOptions<S extends Schema, F, Name extends string = string> {
  /** 1 to 64 letters, digits, `_` or `-`. */
  name: Name;
  /** What it does and when to use it; models read this. */
  description: string;
  /** A Standard Schema (Zod, ArkType …), a JSON Schema, or parameters by name. Default: no input. */
  input?: S & CheckedSchema<S>;
  /** Describes the result, for documentation. The result is not validated. Default: none. */
  output?: StandardSchema | JsonSchema;
  /** Arguments that the tool always receives, and that no model sees or sets; functions are called on each run. Default: none. */
  fixed?: F;
  /** Whether its runs are serialized. Default: false, runs may overlap. */
  lock?: boolean;
  /** Tags by which global hooks select tools. Default: none. */
  tags?: Iterable<string>;
  /** Whether it may safely run twice. Default: false. */
  idempotent?: boolean;
  /** Time for the tool's code, for turns that set none. Default: 60,000; `Infinity` for no limit. */
  timeoutMs?: number;
  /** `"completion_check"`: a tool that tells whether the work is done, and must return a boolean. */
  type?: "completion_check" | undefined;
}

export interface ToolOptions<S extends Schema, F, Name extends string = string>
  extends SubtoolOptions<S, F, Name> {
  /** Where it is registered: a registry, or `false` for nowhere. Default: the process's default registry. */
  registry?: RegistryOption;
}

/** A plain function where the long form needs an async one. The compiler shows this text. */
type NeedsAsync =
  "Write `async` before the function, or use the short form, which takes plain ones: tool(name, description, schema, handler).";

/** Defines a tool from its options, with `Extra` ones, and a function. `Prefix` comes before its name. */
interface Define<Extra, Prefix extends string = ""> {
  /** A tool that tells whether the work is done. */
  <const N extends string, const S extends Schema = undefined, const F extends FixedFor<S> = NoFixed>(
    options: SubtoolOptions<S, F, N> & Extra & { type: "completion_check" },
    fn: (input: ParsedInput<S>, context: ToolContext) => Promise<boolean>,
  ): Tool<Callers<S, F>, boolean, never, ParsedInput<S>, `${Prefix}${N}`>;
  /** A streaming tool. What the generator yields is streamed; a value that it returns is the turn's result. */
  <
    Item,
    Output,
    const N extends string,
    const S extends Schema = undefined,
    const F extends FixedFor<S> = NoFixed,
  >(
    options: SubtoolOptions<S, F, N> & Extra & { type?: undefined },
    fn: (input: ParsedInput<S>, context: ToolContext) => AsyncGenerator<Item, Output, void>,
  ): Tool<Callers<S, F>, Output, Item, ParsedInput<S>, `${Prefix}${N}`>;
  /**
   * A tool from an async function, registered under its name.
   *
   * Defaults: no input, no fixed arguments, no lock, no tags, a time limit of 60,000 ms, not idempotent, the
   * process's default registry. Everything is checked at once: mistakes throw here, and not when it runs.
   */
  <Output, const N extends string, const S extends Schema = undefined, const F extends FixedFor<S> = NoFixed>(
    options: SubtoolOptions<S, F, N> & Extra & { type?: undefined },
    fn: (input: ParsedInput<S>, context: ToolContext) => Promise<Output>,
  ): Tool<Callers<S, F>, Output, never, ParsedInput<S>, `${Prefix}${N}`>;
  /** A plain function is refused. The last overload is the one whose error the compiler shows. */
  <const N extends string, const S extends Schema = undefined, const F extends FixedFor<S> = NoFixed>(
    options: SubtoolOptions<S, F, N> & Extra & { type?: undefined },
    fn: NeedsAsync & ((input: ParsedInput<S>, context: ToolContext) => unknown),
  ): never;
}

/** `tool.subtool(options, fn)`. */
export type DefineSubtool<Parent extends string = string> = Define<unknown, `${Parent}.`>;

interface DefineShort {
  /** The short form for a streaming tool. */
  <const N extends string, const S extends InputSchema, Item, Output>(
    name: N,
    description: string,
    schema: S & CheckedSchema<S>,
    handler: (input: ParsedInput<S>, context: ToolContext) => AsyncGenerator<Item, Output, void>,
  ): Tool<Callers<S, NoFixed>, Output, Item, ParsedInput<S>, N>;
  /** The short form: any function, also a plain one, and not registered. */
  <const N extends string, const S extends InputSchema, Output>(
    name: N,
    description: string,
    schema: S & CheckedSchema<S>,
    handler: (input: ParsedInput<S>, context: ToolContext) => Output | Promise<Output>,
  ): Tool<Callers<S, NoFixed>, Output, never, ParsedInput<S>, N>;
}

/** Defines a tool: `tool(options, fn)`, or `tool(name, description, schema, handler)` for one that is not registered. */
export const tool = ((...[first, second, schema, handler]: unknown[]) => {
  if (typeof first !== "string") return defineTool(first, second, null);
  const options = { name: first, description: second, input: schema, registry: false };
  return defineTool(options, asyncHandler(handler), null);
}) as Define<Pick<ToolOptions<Schema, unknown>, "registry">> & DefineShort;

const subtoolKeys = [
  "name",
  "description",
  "input",
  "output",
  "fixed",
  "lock",
  "tags",
  "idempotent",
  "timeoutMs",
  "type",
];

function defineTool(options: unknown, fn: unknown, parent: AnyTool | null): AnyTool {
  checkOptions("options", options, parent === null ? [...subtoolKeys, "registry"] : subtoolKeys);
  const given = options as Partial<ToolOptions<InputSchema, Record<string, unknown>>>;
  const kind = checkKind(fn, given);
  const input = compileInput(given.input);
  const home = parent ?? chooseRegistry(given.registry);
  const definition: ToolDefinition = {
    shortName: checkName("name", given.name),
    description: checkString("description", given.description),
    fn: fn as ToolDefinition["fn"],
    kind,
    input,
    outputSchema: readOutput(given.output, given.type),
    fixed: checkFixed(given.fixed, input.jsonSchema),
    isLocked: checkBoolean("lock", given.lock ?? false),
    tags: toTags("tags", given.tags),
    type: checkType(given.type),
    isIdempotent: checkBoolean("idempotent", given.idempotent ?? false),
    timeoutMs: given.timeoutMs === undefined ? null : checkDuration("timeoutMs", given.timeoutMs),
    registry: home.registry,
    isRegistered: home.isRegistered,
    parent,
  };
  checkIsNew(definition);
  const made = new AnyTool(definition, defineTool);
  if (made.isRegistered) made.registry.tools.register(made);
  return made;
}

/** An unregistered subtool is known to its parent only, which must not have the name twice. */
function checkIsNew({ parent, shortName }: ToolDefinition): void {
  // The registry checks registered ones, which may have been removed from it.
  if (parent?.isRegistered || !parent?.subtools.some((sibling) => sibling.metadata.name === shortName))
    return;
  throw new InvalidArgumentError({
    field: "name",
    expected: `a name that no other subtool of '${parent.name}' has`,
    received: shortName,
  });
}

function checkKind(fn: unknown, { name, type }: { name?: unknown; type?: unknown }): FunctionKind {
  const kind = functionKind(fn);
  const called = typeof name === "string" ? JSON.stringify(name) : "…";
  if (kind !== "async" && kind !== "async generator")
    throw new InvalidTypeError({
      field: "fn",
      expected: "an async function or an async generator function",
      received: fn,
      hint: `Write \`async\` before it, also if it returns a promise: tool({ name: ${called}, … }, async (input) => …). The short form takes plain functions: tool(${called}, description, schema, (input) => …).`,
    });
  if (type === "completion_check" && kind !== "async")
    throw new InvalidTypeError({
      field: "fn",
      expected: "an async function that returns a boolean, for a completion check",
      received: fn,
      hint: "A stream cannot be a completion check.",
    });
  return kind;
}

function checkType(type: unknown): "completion_check" | null {
  if (type === undefined || type === null) return null;
  if (type === "completion_check") return type;
  throw new InvalidArgumentError({
    field: "type",
    expected: '"completion_check", or nothing',
    received: type,
  });
}

function readOutput(output: unknown, type: unknown): JsonSchema | null {
  if (output === undefined) return null;
  if (!isStandardSchema(output) && !isPlainObject(output))
    throw new InvalidTypeError({
      field: "output",
      expected: "a Standard Schema or a JSON Schema",
      received: output,
    });
  if (isTooDeep(output))
    throw new InvalidTypeError({
      field: "output",
      expected: `a schema of at most ${maxDataDepth} levels`,
      received: output,
    });
  const schema: JsonSchema = isStandardSchema(output)
    ? standardToJsonSchema("output", output)
    : copyData(output);
  if (type === "completion_check" && schema.type !== "boolean")
    throw new InvalidTypeError({
      field: "output",
      expected: "a boolean schema, for a completion check",
      received: output,
    });
  return schema;
}

/** Makes a plain function asynchronous, without calling it. */
function asyncHandler(handler: unknown): unknown {
  if (functionKind(handler) === "plain") {
    const plain = handler as (input: unknown, context: ToolContext) => unknown;
    return async (input: unknown, context: ToolContext) => plain(input, context);
  }
  if (functionKind(handler) === "generator" || typeof handler !== "function")
    throw new InvalidTypeError({
      field: "handler",
      expected: "a function, async or not, or an async generator function",
      received: handler,
    });
  return handler;
}
