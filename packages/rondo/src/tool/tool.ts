// A tool: an async function with a name, a description and a schema, which runs only as a turn.

import type { FunctionKind } from "../async/async-function.ts";
import { Lock } from "../async/lock.ts";
import type { Run } from "../async/run.ts";
import { InvalidArgumentError } from "../error/argument-errors.ts";
import { checkOptions } from "../error/check.ts";
import type { HookContext, HookFunction } from "../hook/events.ts";
import type { AttachOptions, Hook } from "../hook/hook.ts";
import { HookList } from "../hook/hook-list.ts";
import { isTooDeep, maxDataDepth } from "../json/depth.ts";
import type { Registry } from "../registry/registry.ts";
import type { DefineSubtool } from "./define.ts";
import { hideFixed } from "./fixed.ts";
import type { CompiledInput } from "./input-schema.ts";
import type { JsonSchema } from "./json-schema.ts";
import { type ExecuteOptions, runAsTurn } from "./run-as-turn.ts";
import type { ToolContext } from "./tool-context.ts";
import { ToolMetadata } from "./tool-metadata.ts";

/** Checked before any schema, because validators of other libraries are recursive and would overflow the stack. */
const tooDeep = {
  issues: [{ path: "", message: `expected at most ${maxDataDepth} levels, got more. Nest it less` }],
};

/** Name, input and output of a tool; for the compiler only. */
export interface ToolTypes {
  readonly name: string;
  readonly input: unknown;
  readonly output: unknown;
  readonly item: unknown;
}

type TypesOf<T extends AnyTool> = NonNullable<T["~types"]>;

/** The name of the tool, as a literal type where it is known. */
export type NameOf<T extends AnyTool> = TypesOf<T>["name"];

/** The input of the tool, without fixed arguments. */
export type InputOf<T extends AnyTool> = TypesOf<T>["input"];

/** What a streaming tool yields; `never` for one that returns a single value. */
export type ItemOf<T extends AnyTool> = TypesOf<T>["item"];

/** The output of a completed turn of the tool: the value, or for a stream its result or its values. */
export type OutputOf<T extends AnyTool> = CompletedOutput<TypesOf<T>["output"], ItemOf<T>>;

type HookOn<Value> = (value: Value, context: HookContext) => Promise<unknown>;

/** The output of a completed turn, of what a function returns and yields. */
export type CompletedOutput<Output, Item> = [Item] extends [never]
  ? Output
  : // biome-ignore lint/suspicious/noConfusingVoidType: what a generator without a return statement returns
    [Output] extends [void]
    ? Item[]
    : Output;

/** The name and description of a tool and of its subtools. */
export interface DocTree {
  name: string;
  description: string;
  subtools: DocTree[];
}

/** A tool in the shape of the chat-completions API. */
export interface OpenAITool {
  type: "function";
  function: { name: string; description: string; parameters: JsonSchema };
}

/** The arguments of `tool()`, checked. */
export interface ToolDefinition {
  readonly shortName: string;
  readonly description: string;
  readonly fn: (
    input: never,
    context: ToolContext,
  ) => Promise<unknown> | AsyncGenerator<unknown, unknown, void>;
  readonly kind: FunctionKind;
  readonly input: CompiledInput;
  readonly outputSchema: JsonSchema | null;
  readonly fixed: Readonly<Record<string, unknown>>;
  readonly isLocked: boolean;
  readonly tags: ReadonlySet<string>;
  readonly type: "completion_check" | null;
  readonly isIdempotent: boolean;
  readonly timeoutMs: number | null;
  readonly registry: Registry;
  readonly isRegistered: boolean;
  readonly parent: AnyTool | null;
}

/** The input, optional if nothing in it is required, and options. */
export type CallArguments<Input, Options> =
  Partial<Input> extends Input ? [input?: Input, options?: Options] : [input: Input, options?: Options];

/**
 * A tool with its types. `Input` is the input of a call, `Output` what the function returns, `Item` what a
 * streaming tool yields, `Parsed` what the function receives: the input with defaults and fixed arguments, and `Name`
 * its full name.
 */
export interface Tool<
  Input extends object = Record<string, unknown>,
  Output = unknown,
  Item = never,
  Parsed = Input,
  Name extends string = string,
> extends AnyTool {
  readonly "~types"?: {
    readonly name: Name;
    readonly input: Input;
    readonly output: Output;
    readonly item: Item;
  };
  readonly name: Name;
  readonly subtool: DefineSubtool<Name>;
  /** Runs the tool as a turn of its own: a promise of its value, or the run of its stream. */
  execute(
    ...args: CallArguments<Input, ExecuteOptions>
  ): [Item] extends [never] ? Promise<Output> : Run<Item, Output>;
  beforeInvoke(fn: HookOn<Parsed> | Hook, options?: AttachOptions): Hook<"tool.beforeInvoke">;
  onYield(fn: HookOn<Item> | Hook, options?: AttachOptions): Hook<"tool.onYield">;
  afterInvoke(
    fn: HookOn<CompletedOutput<Output, Item>> | Hook,
    options?: AttachOptions,
  ): Hook<"tool.afterInvoke">;
}

/** A tool of any input and output. Created by `tool()`, which infers its types. */
export class AnyTool {
  declare readonly "~types"?: ToolTypes;
  /** The full name, `parent.child` for a subtool, as in registries and turns. */
  readonly name: string;
  /** The name that models see, which cannot have dots. */
  readonly wireName: string;
  readonly metadata: ToolMetadata;
  readonly fn: ToolDefinition["fn"];
  /** Whether it is an async generator. */
  readonly isStreaming: boolean;
  /** `completion_check`: the agent stops when it returns true. */
  readonly type: "completion_check" | null;
  /** Serializes the runs of this tool; `null` if they may overlap. */
  readonly lock: Lock | null;
  readonly tags: ReadonlySet<string>;
  readonly fixed: Readonly<Record<string, unknown>>;
  /** Whether it may safely run twice, and so again after a crash. */
  readonly isIdempotent: boolean;
  /** Its time limit, for turns without one; `null` for the default of 60,000. */
  readonly timeoutMs: number | null;
  readonly registry: Registry;
  /** Whether it is in its registry; otherwise only the agents that were given it know it. */
  readonly isRegistered: boolean;
  readonly parent: AnyTool | null;
  /** Validates an input, including fixed arguments. */
  readonly parseInput: CompiledInput["parse"];
  readonly #subtools = new Map<string, AnyTool>();
  readonly #hooks = new HookList("tool");

  /**
   * Defines a subtool, with the options of `tool()`. Its full name is `parent.child`, so that several tools can have
   * subtools of the same short name. It is registered where its parent is.
   */
  readonly subtool: DefineSubtool;

  /** Use `tool()`. `define` creates subtools. */
  constructor(
    definition: ToolDefinition,
    define: (options: unknown, fn: unknown, parent: AnyTool) => AnyTool,
  ) {
    const { shortName, description, input, outputSchema, fixed, parent } = definition;
    this.name = parent === null ? shortName : `${parent.name}.${shortName}`;
    this.wireName = this.name.replaceAll(".", "__");
    this.metadata = new ToolMetadata(
      shortName,
      description,
      hideFixed(input.jsonSchema, fixed),
      outputSchema,
    );
    this.fn = definition.fn;
    this.isStreaming = definition.kind === "async generator";
    this.type = definition.type;
    this.lock = definition.isLocked ? new Lock(`the tool '${this.name}'`) : null;
    this.tags = definition.tags;
    this.fixed = fixed;
    this.isIdempotent = definition.isIdempotent;
    this.timeoutMs = definition.timeoutMs;
    this.registry = definition.registry;
    this.isRegistered = definition.isRegistered;
    this.parent = parent;
    const parseInput: typeof this.parseInput = (values) =>
      isTooDeep(values) ? tooDeep : input.parse(values);
    const subtool = (options: unknown, fn: unknown) => {
      const child = define(options, fn, this);
      this.#subtools.set(child.metadata.name, child);
      return child;
    };
    // Functions that are assigned directly live until the next full garbage collection.
    this.parseInput = parseInput;
    this.subtool = subtool as DefineSubtool;
    checkWireName(this.wireName);
    Object.freeze(this);
  }

  get description(): string {
    return this.metadata.description;
  }

  /** The subtools in the order of their definition. */
  get subtools(): readonly AnyTool[] {
    return [...this.#subtools.values()];
  }

  /** The hooks of this tool only, for turns. */
  get hookList(): HookList {
    return this.#hooks;
  }

  /** The hooks of this tool only. */
  get hooks(): readonly Hook[] {
    return this.#hooks.all();
  }

  /** Runs the tool as a turn of its own: a promise of its value, or the run of its stream. */
  execute(input?: object, options: ExecuteOptions = {}): unknown {
    checkOptions("options", options, ["signal", "timeoutMs", "graceMs", "tracer"]);
    return runAsTurn(this, input, options);
  }

  /** Name and description of this tool and its subtools, for documentation. */
  docTree(): DocTree {
    const { name, description } = this.metadata;
    return { name, description, subtools: this.subtools.map((subtool) => subtool.docTree()) };
  }

  /** The tool in the format of the chat-completions API, without fixed arguments. */
  toOpenAI(): OpenAITool {
    const { description, inputSchema } = this.metadata;
    return { type: "function", function: { name: this.wireName, description, parameters: inputSchema } };
  }

  /** Before the tool runs: `(input)`, validated. Throwing stops it. */
  beforeInvoke(fn: HookOn<never> | Hook, options?: AttachOptions): Hook<"tool.beforeInvoke"> {
    return this.#hooks.attach("tool.beforeInvoke", fn as HookFunction<"tool.beforeInvoke">, options);
  }

  /** For each value that a streaming tool yields: `(value)`. */
  onYield(fn: HookOn<never> | Hook, options?: AttachOptions): Hook<"tool.onYield"> {
    return this.#hooks.attach("tool.onYield", fn as HookFunction<"tool.onYield">, options);
  }

  /** After the tool succeeded: `(result)`; for a stream its result, or the list of its values. */
  afterInvoke(fn: HookOn<never> | Hook, options?: AttachOptions): Hook<"tool.afterInvoke"> {
    return this.#hooks.attach("tool.afterInvoke", fn as HookFunction<"tool.afterInvoke">, options);
  }

  /** When the tool's function threw: `(error)`. Not called on timeout and cancel. */
  onError(fn: HookFunction<"tool.onError"> | Hook, options?: AttachOptions): Hook<"tool.onError"> {
    return this.#hooks.attach("tool.onError", fn, options);
  }
}

const maxWireNameLength = 64;

function checkWireName(wireName: string): void {
  if (wireName.length > maxWireNameLength)
    throw new InvalidArgumentError({
      field: "name",
      expected: `a full name of at most ${maxWireNameLength} characters as models see it`,
      received: wireName,
    });
}
