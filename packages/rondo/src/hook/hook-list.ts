// The hooks of one object.

import { checkOptions, requireType } from "../error/check.ts";
import type { EventKind, HookEvent } from "./events.ts";
import { type AttachOptions, Hook, type HookInput, makeHook } from "./hook.ts";

const none: readonly Hook[] = [];

export class HookList {
  readonly #kind: EventKind;
  /** Made with the first hook: each turn has a list, and few have hooks of their own. */
  #byEvent: Map<HookEvent, Hook[]> | undefined;

  constructor(kind: EventKind) {
    this.#kind = kind;
  }

  /** Attaches a function, or a hook that is attached elsewhere too. */
  attach<E extends HookEvent>(event: E, fn: HookInput<E>, options: AttachOptions = {}): Hook<E> {
    checkOptions("options", options, ["lock", "fixed", "description"]);
    const made = makeHook([event], fn, options, (hook) => this.#detach(event, hook)) as Hook<E>;
    this.#byEvent ??= new Map();
    this.#byEvent.set(event, [...this.forEvent(event), made]);
    return made;
  }

  forEvent(event: HookEvent): readonly Hook[] {
    return this.#byEvent?.get(event) ?? none;
  }

  all(): Hook[] {
    return [...(this.#byEvent?.values() ?? [])].flat();
  }

  /** Also attaches hooks of another object: those chosen, or all for `undefined`, or none for `null`. */
  inherit(other: HookList, chosen: readonly Hook[] | null | undefined): void {
    for (const hook of chosen === undefined ? other.all() : checkHooks(chosen ?? []))
      for (const event of hook.events) if (event.startsWith(`${this.#kind}.`)) this.attach(event, hook);
  }

  #detach(event: HookEvent, hook: Hook): boolean {
    const hooks = this.forEvent(event);
    this.#byEvent?.set(
      event,
      hooks.filter((other) => other !== hook),
    );
    return hooks.includes(hook);
  }
}

function checkHooks(hooks: readonly Hook[]): readonly Hook[] {
  requireType(Array.isArray(hooks), "hooks", "a list of hooks, or null", hooks);
  for (const [index, hook] of hooks.entries())
    requireType(hook instanceof Hook, `hooks[${index}]`, "a Hook", hook);
  return hooks;
}
