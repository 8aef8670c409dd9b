// The events that hooks can follow, with their arguments.

import type { Agent } from "../agent/agent.ts";
import type { ContextItem } from "../context/context-item.ts";
import type { ContextPool } from "../context/context-pool.ts";
import type { ContextQueue } from "../context/context-queue.ts";
import type { AnyTool } from "../tool/tool.ts";
import type { Turn } from "../turn/turn.ts";
import type { StopReason } from "../turn/turn-state.ts";

/** The last argument of every hook. */
export interface HookContext {
  /** The tool whose turn it is. */
  readonly tool?: AnyTool;
  readonly turn?: Turn;
  /** The agent that runs the turn, if any. */
  readonly agent?: Agent;
  readonly queue?: ContextQueue;
  readonly pool?: ContextPool;
  /** Aborted when the caller aborts the run; never for work that cannot be aborted. */
  readonly signal: AbortSignal;
  /** The hook's own fixed values, with lazy ones resolved for this call. */
  readonly fixed: Readonly<Record<string, unknown>>;
}

/** The arguments of each event, without the `HookContext` that follows them. */
export interface HookEvents {
  /** The tool is about to run. Gets the validated input. Throwing stops it. */
  "tool.beforeInvoke": [input: Readonly<Record<string, unknown>>];
  /** A streaming tool yielded a value. */
  "tool.onYield": [value: unknown];
  /** The tool succeeded, with its result or its list of values; or a stream was left, with the values so far. */
  "tool.afterInvoke": [result: unknown];
  /** The tool's function threw. Not fired on timeout and cancel. */
  "tool.onError": [error: unknown];

  "turn.beforeRun": [turn: Turn];
  /** The turn completed. Not fired on error, timeout and cancel. */
  "turn.afterRun": [turn: Turn, output: unknown];
  "turn.onTimeout": [turn: Turn];
  /** The turn failed, but not by timeout or cancel. */
  "turn.onError": [turn: Turn, error: unknown];
  /** The turn ended, for any reason. */
  "turn.onComplete": [turn: Turn, stopReason: StopReason];

  /** The next turn is about to be taken from the queue. Throwing leaves it there. */
  "agent.beforeTurn": [agent: Agent];
  /** A turn completed and all its values were passed on. */
  "agent.afterTurn": [agent: Agent, turn: Turn];
  /** A turn produced a value. Also fired for turns and context items, which are routed and not yielded. */
  "agent.onTurnValue": [agent: Agent, turn: Turn, value: unknown];
  /** A turn is about to be queued. Throwing keeps it out. */
  "agent.beforePut": [agent: Agent, turn: Turn];
  "agent.afterPut": [agent: Agent, turn: Turn];
  /** A paused run stopped before its next turn. */
  "agent.onPause": [agent: Agent];
  "agent.onResume": [agent: Agent];

  /** Items are about to be appended. Throwing keeps all of them out. */
  "queue.beforeAppend": [
    queue: ContextQueue,
    incoming: readonly ContextItem[],
    current: readonly ContextItem[],
  ];
  "queue.afterAppend": [appended: readonly ContextItem[], current: readonly ContextItem[]];
  "queue.beforeClear": [queue: ContextQueue, current: readonly ContextItem[]];
  "queue.afterClear": [queue: ContextQueue];
  /** The oldest item is about to be evicted; it is still there. */
  "queue.onEvict": [queue: ContextQueue, oldest: ContextItem];

  /** An item is about to be added. Throwing keeps it out, and nothing is evicted. */
  "pool.beforeAdd": [pool: ContextPool, item: ContextItem];
  "pool.afterAdd": [pool: ContextPool, item: ContextItem];
  "pool.beforeRemove": [pool: ContextPool, item: ContextItem];
  "pool.afterRemove": [pool: ContextPool, item: ContextItem];
  "pool.beforeClear": [pool: ContextPool, current: ReadonlyMap<string, ContextItem>];
  "pool.afterClear": [pool: ContextPool];
  /** The oldest item is about to be evicted; it is still there. */
  "pool.onEvict": [pool: ContextPool, oldest: ContextItem];
}

export type HookEvent = keyof HookEvents;

/** A hook for one or several events, with the arguments of each. Must be an async function. */
export type HookFunction<E extends HookEvent = HookEvent> = (
  ...args: [...HookEvents[E], context: HookContext]
) => Promise<unknown>;

/** The kinds of objects that have events. */
export type EventKind = HookEvent extends `${infer Kind}.${string}` ? Kind : never;

type NameOf<E, K extends EventKind> = E extends `${K}.${infer Name}` ? Name : never;

const eventNames: { readonly [K in EventKind]: readonly NameOf<HookEvent, K>[] } = {
  tool: ["beforeInvoke", "onYield", "afterInvoke", "onError"],
  turn: ["beforeRun", "afterRun", "onTimeout", "onError", "onComplete"],
  agent: ["beforeTurn", "afterTurn", "onTurnValue", "beforePut", "afterPut", "onPause", "onResume"],
  queue: ["beforeAppend", "afterAppend", "beforeClear", "afterClear", "onEvict"],
  pool: ["beforeAdd", "afterAdd", "beforeRemove", "afterRemove", "beforeClear", "afterClear", "onEvict"],
};

/** All events. */
export const hookEvents: readonly HookEvent[] = Object.entries(eventNames).flatMap(([kind, names]) =>
  names.map((name) => `${kind}.${name}` as HookEvent),
);
