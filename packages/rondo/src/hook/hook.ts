// A hook: a function that follows events, global or of one object.

import { functionKind } from "../async/async-function.ts";
import { hasLazy, resolveLazy } from "../async/lazy.ts";
import { Lock } from "../async/lock.ts";
import {
  checkBoolean,
  checkOptions,
  checkPlainObject,
  checkString,
  requireType,
  requireValue,
} from "../error/check.ts";
import type { Registry } from "../registry/registry.ts";
import { chooseRegistry } from "../registry/registry-option.ts";
import { type HookContext, type HookEvent, type HookFunction, hookEvents } from "./events.ts";
import { toTags } from "./tags.ts";

export interface AttachOptions {
  /** Serializes the calls of the hook. Default: false. */
  lock?: boolean;
  /** Values for `context.fixed`; functions among them are called each time. Default: none. */
  fixed?: Record<string, unknown>;
  /** What the hook is for. Default: empty. */
  description?: string;
}

export interface HookOptions extends AttachOptions {
  /** Follow only objects that have at least one of these tags. Default: all objects. */
  tags?: Iterable<string>;
  /** Whose objects to follow. Default: the process's default registry. */
  registry?: Registry;
}

/** What a hook does, apart from where it is attached. */
interface Definition {
  readonly fn: (...args: never) => Promise<unknown>;
  readonly lock: Lock | null;
  readonly fixed: Readonly<Record<string, unknown>>;
  readonly description: string;
  /** Equal for two attachments of one hook: the function itself, unless it has a lock or fixed values. */
  readonly identity: unknown;
}

/** One attachment of a hook, global or to an object. `unregister()` ends just this one. */
export class Hook<E extends HookEvent = HookEvent> {
  /** The name of the function; several hooks may share it. */
  readonly name: string;
  readonly events: readonly E[];
  readonly tags: ReadonlySet<string>;
  readonly #definition: Definition;
  readonly #detach: (hook: Hook) => boolean;

  /** Use `hook()` or an object's methods. */
  constructor(
    definition: Definition,
    events: readonly E[],
    tags: ReadonlySet<string>,
    detach: (hook: Hook) => boolean,
  ) {
    this.name = definition.fn.name === "" ? "anonymous" : definition.fn.name;
    this.events = events;
    this.tags = tags;
    this.#definition = definition;
    this.#detach = detach;
  }

  get description(): string {
    return this.#definition.description;
  }

  get lock(): Lock | null {
    return this.#definition.lock;
  }

  /** Hooks of the same identity fire once per event. */
  get identity(): unknown {
    return this.#definition.identity;
  }

  /** Ends this attachment. Returns whether it still existed. */
  unregister(): boolean {
    return this.#detach(this);
  }

  [Symbol.dispose](): void {
    this.unregister();
  }

  /** Calls the function with an event's arguments. */
  async call(args: readonly unknown[], context: HookContext): Promise<void> {
    const { fn, lock, fixed } = this.#definition;
    const run = async (): Promise<unknown> => {
      const values = hasLazy(fixed) ? await resolveLazy(fixed) : fixed;
      return Reflect.apply(fn, undefined, [...args, { ...context, fixed: values }]);
    };
    if (!lock) {
      await run();
      return;
    }
    // Without the run's signal: the hooks of an aborted run still run.
    const hold = await lock.acquire();
    try {
      await hold.run(run);
    } finally {
      hold.release();
    }
  }

  /** The same hook, attached elsewhere. */
  attachedTo(events: readonly HookEvent[], detach: (hook: Hook) => boolean): Hook {
    return new Hook(this.#definition, events, this.tags, detach);
  }
}

/** What can be attached for an event: a function, or a hook that is attached elsewhere too. */
export type HookInput<E extends HookEvent> = HookFunction<E> | Hook;

/** Makes a hook of a function, or of another hook. Checks everything first. */
export function makeHook(
  events: readonly HookEvent[],
  fn: HookFunction<never> | Hook,
  options: HookOptions,
  detach: (hook: Hook) => boolean,
): Hook {
  if (fn instanceof Hook) {
    const hint = "Attach the function itself to give it other options.";
    for (const option of ["lock", "fixed", "description", "tags"] as const) {
      const value = options[option];
      requireValue(
        value === undefined,
        `options.${option}`,
        "nothing: an existing hook has its own",
        value,
        hint,
      );
    }
    return fn.attachedTo(events, detach);
  }
  const hint = "Write it as `async (…) => { … }`: hooks are awaited one by one.";
  requireType(functionKind(fn) === "async", "hook", "an async function", fn, hint);
  const lock = options.lock !== undefined && checkBoolean("lock", options.lock);
  const fixed = options.fixed === undefined ? {} : { ...checkPlainObject("fixed", options.fixed) };
  const definition: Definition = {
    fn,
    lock: lock ? new Lock(`the hook '${fn.name}'`) : null,
    fixed,
    description: checkString("description", options.description ?? ""),
    identity: lock || options.fixed ? Symbol(fn.name) : fn,
  };
  return new Hook(definition, events, toTags("tags", options.tags), detach);
}

/**
 * Follows an event, or several, of every object of a registry (by default the process's).
 *
 * `fn` must be an async function. It gets the event's arguments, then a `HookContext`. Hooks run one at a time: those
 * of the object first, then the global ones in order of registration. If one throws, the rest are skipped and the
 * watched operation fails.
 *
 * Defaults: no tags (follows all objects), no lock, the default registry.
 */
export function hook<const E extends HookEvent>(
  events: E | readonly E[],
  fn: HookFunction<E>,
  options: HookOptions = {},
): Hook<E> {
  checkOptions("options", options, ["tags", "lock", "fixed", "description", "registry"]);
  const list = checkEvents(events);
  const { registry, isRegistered } = chooseRegistry(options.registry);
  requireType(isRegistered, "registry", "a Registry: global hooks must belong to one", options.registry);
  const made = makeHook(list, fn, options, (hook) => registry.hooks.unregister(hook)) as Hook<E>;
  registry.hooks.register(made);
  return made;
}

function checkEvents(events: string | readonly string[]): HookEvent[] {
  const list = typeof events === "string" ? [events] : events;
  requireType(Array.isArray(list), "events", "an event, or a list of events", events);
  requireValue(list.length > 0, "events", "at least one event", events);
  const known: readonly string[] = hookEvents;
  for (const event of list)
    requireValue(known.includes(event), "events", `one of ${known.join(", ")}`, event);
  return [...new Set(list as readonly HookEvent[])];
}
