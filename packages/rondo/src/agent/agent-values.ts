// The values that a run of an agent yields, for the compiler.

import type { Block } from "../client/blocks.ts";
import type { ResultMessage } from "../client/query.ts";
import type { ContextItem } from "../context/context-item.ts";
import type { ModelProvider } from "../model/provider.ts";
import type { AnyTool, ItemOf } from "../tool/tool.ts";
import type { Turn } from "../turn/turn.ts";

/** A value that a turn produced, with its turn. */
export type TurnValue<Value = unknown> = [turn: Turn, value: Value];

/** Turns and context items are routed, not yielded. */
type NotRouted<Value> = Value extends Turn | ContextItem ? never : Value;

/** What a tool returns, or yields and then returns. */
type ValueOf<T> = T extends AnyTool ? NotRouted<ReturnedBy<T> | ItemOf<T>> : unknown;

type ReturnedBy<T extends AnyTool, Output = NonNullable<T["~types"]>["output"]> = [ItemOf<T>] extends [never]
  ? Output
  : // biome-ignore lint/suspicious/noConfusingVoidType: what a generator without a return statement returns
    Exclude<Output, void | undefined>;

/**
 * The values of an agent: those of its tools, and the blocks and the result of each prompt if it has a model. Of tools
 * that are given by name nothing is known, and of subtools only those that are given themselves.
 */
export type YieldedBy<T extends AnyTool | string, M extends ModelProvider | undefined> =
  | ValueOf<T>
  // Not one by one: without a model, `M` is inferred as its default.
  | ([M] extends [ModelProvider] ? Block<T> | ResultMessage : never);
