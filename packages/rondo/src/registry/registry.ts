// Names to tools, agents and hooks. There is one registry for the process, and as many isolated ones as wanted.

import type { Agent } from "../agent/agent.ts";
import { InvalidTypeError } from "../error/argument-errors.ts";
import { checkString } from "../error/check.ts";
import {
  UnregisteredAgentError,
  UnregisteredHookError,
  UnregisteredToolError,
} from "../error/lookup-errors.ts";
import type { HookEvent } from "../hook/events.ts";
import type { Hook } from "../hook/hook.ts";
import type { AnyTool, DocTree } from "../tool/tool.ts";
import { NamedItems } from "./named-items.ts";

class RegisteredTools extends NamedItems<AnyTool> {
  protected readonly kind = "tool";

  protected notFound(name: string, known: readonly string[]): Error {
    return new UnregisteredToolError(name, known);
  }

  /** The documentation trees of all root tools, sorted by name. */
  definitions(): DocTree[] {
    return this.all()
      .filter((tool) => tool.parent === null)
      .map((tool) => tool.docTree())
      .toSorted((one, other) => (one.name < other.name ? -1 : 1));
  }

  /** Forgets a tool and its subtools. Tells whether there was one. */
  override unregister(name: string): boolean {
    for (const key of this.items.keys()) if (key.startsWith(`${name}.`)) this.items.delete(key);
    return super.unregister(name);
  }
}

class RegisteredAgents extends NamedItems<Agent> {
  protected readonly kind = "agent";

  protected notFound(name: string, known: readonly string[]): Error {
    return new UnregisteredAgentError(name, known);
  }
}

/** Global hooks. Unlike tools and agents, several may have one name: closures often do. */
class RegisteredHooks {
  readonly #hooks = new Set<Hook>();
  // Looked up at every step of every turn, so it is kept by event.
  readonly #byEvent = new Map<HookEvent, Hook[]>();

  /** The first hook of that name; throws when there is none. */
  get(name: string): Hook {
    checkString("name", name);
    for (const hook of this.#hooks) if (hook.name === name) return hook;
    throw new UnregisteredHookError(name, [...new Set(this.all().map((hook) => hook.name))]);
  }

  /** All hooks in the order in which they were registered. */
  all(): Hook[] {
    return [...this.#hooks];
  }

  /** The hooks that follow an event, in the order in which they were registered. */
  forEvent(event: HookEvent): readonly Hook[] {
    return this.#byEvent.get(event) ?? [];
  }

  register(hook: Hook): void {
    if (!Array.isArray((hook as Hook | null)?.events))
      throw new InvalidTypeError({ field: "hook", expected: "a hook made by hook()", received: hook });
    if (this.#hooks.has(hook)) return;
    this.#hooks.add(hook);
    for (const event of hook.events) this.#byEvent.set(event, [...this.forEvent(event), hook]);
  }

  /** Forgets one hook, or all of a name. Tells whether there was one. */
  unregister(hookOrName: Hook | string): boolean {
    const isMeant = (hook: Hook) => hook === hookOrName || hook.name === hookOrName;
    const meant = this.all().filter(isMeant);
    for (const hook of meant) {
      this.#hooks.delete(hook);
      for (const event of hook.events)
        this.#byEvent.set(
          event,
          this.forEvent(event).filter((other) => other !== hook),
        );
    }
    return meant.length > 0;
  }

  /** Forgets all hooks, for tests. */
  clear(): void {
    this.#hooks.clear();
    this.#byEvent.clear();
  }
}

/**
 * Holds tools, agents and global hooks. What is defined in one registry neither clashes with nor is seen from
 * another: tests and servers make their own.
 */
export class Registry {
  readonly tools: RegisteredTools = new RegisteredTools();
  readonly agents: RegisteredAgents = new RegisteredAgents();
  readonly hooks: RegisteredHooks = new RegisteredHooks();
}

/** Where everything goes that names no other registry. */
export const defaultRegistry: Registry = new Registry();

/** The tools of the default registry. */
export const ToolRegistry: RegisteredTools = defaultRegistry.tools;

/** The agents of the default registry. */
export const AgentRegistry: RegisteredAgents = defaultRegistry.agents;

/** The global hooks of the default registry. */
export const HookRegistry: RegisteredHooks = defaultRegistry.hooks;
