// Calls the hooks of an event, in order.

import { defaultGraceMs } from "../async/run.ts";
import type { Registry } from "../registry/registry.ts";
import type { HookContext, HookEvent, HookEvents } from "./events.ts";
import type { Hook } from "./hook.ts";
import type { HookList } from "./hook-list.ts";
import { shareTag } from "./tags.ts";
import { waitWithGrace } from "./wait-with-grace.ts";

/** Where an event comes from, and whose hooks it fires. */
export interface EventSource {
  /** The hooks of the object and of its agent. They fire first and ignore tags. */
  readonly hooks: readonly HookList[];
  /** The registry of the global hooks. */
  readonly registry: Registry;
  readonly tags: ReadonlySet<string>;
  /** How long hooks have to finish when the run is aborted. Default: 1,000. */
  readonly graceMs?: number;
}

let never: AbortSignal | undefined;

/** The signal of work that cannot be aborted. Made at its first use: Workers allow none while modules load. */
export function neverAborted(): AbortSignal {
  never ??= new AbortController().signal;
  return never;
}

/**
 * Calls the hooks one at a time; the first that throws stops the rest. Returns `undefined` if there is nothing to
 * await, which is nearly always: that saves each turn some promises.
 */
export function fire<E extends HookEvent>(
  event: E,
  source: EventSource,
  args: HookEvents[E],
  context: Omit<HookContext, "fixed">,
): Promise<void> | undefined {
  const hooks = hooksFor(event, source);
  if (hooks.length === 0) return undefined;
  const calls = callInOrder(hooks, args, { ...context, fixed: {} });
  return context.signal === never
    ? calls
    : waitWithGrace(calls, event, context.signal, source.graceMs ?? defaultGraceMs);
}

function hooksFor(event: HookEvent, { hooks: lists, registry, tags }: EventSource): readonly Hook[] {
  const own =
    lists.length === 1 && lists[0] ? lists[0].forEvent(event) : lists.flatMap((list) => list.forEvent(event));
  const global = registry.hooks.forEvent(event);
  if (own.length + global.length === 0) return own;
  const byIdentity = new Map<unknown, Hook>();
  const add = (hook: Hook) => {
    if (!byIdentity.has(hook.identity)) byIdentity.set(hook.identity, hook);
  };
  own.forEach(add);
  for (const hook of global) if (hook.tags.size === 0 || shareTag(hook.tags, tags)) add(hook);
  return [...byIdentity.values()];
}

async function callInOrder(
  hooks: readonly Hook[],
  args: readonly unknown[],
  context: HookContext,
): Promise<void> {
  for (const hook of hooks) await hook.call(args, context);
}
