// Registries of tools, agents and global hooks: a default one for the process, and isolated ones.

import type { Agent } from "../agent/agent.ts";
import { checkString, requireType } from "../error/check.ts";
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

  /** Removes a tool and its subtools. Returns whether there was one. */
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

/** Global hooks. Unlike tools and agents, several may share a name: closures often do. */
class RegisteredHooks {
  readonly #hooks = new Set<Hook>();
  // An index: it is looked up at every step of every turn.
  readonly #byEvent = new Map<HookEvent, Hook[]>();

  /** The first hook of that name; throws when there is none. */
  get(name: string): Hook {
    checkString("name", name);
    for (const hook of this.#hooks) if (hook.name === name) return hook;
    throw new UnregisteredHookError(name, [...new Set(this.all().map((hook) => hook.name))]);
  }

  /** All hooks, in order of registration. */
  all(): Hook[] {
    return [...this.#hooks];
  }

  /** The hooks of an event, in order of registration. */
  forEvent(event: HookEvent): readonly Hook[] {
    return this.#byEvent.get(event) ?? [];
  }

  register(hook: Hook): void {
    requireType(Array.isArray((hook as Hook | null)?.events), "hook", "a hook made by hook()", hook);
    if (this.#hooks.has(hook)) return;
    this.#hooks.add(hook);
    for (const event of hook.events) this.#byEvent.set(event, [...this.forEvent(event), hook]);
  }

  /** Removes a hook, or all hooks of a name. Returns whether there was one. */
  unregister(hookOrName: Hook | string): boolean {
    const matching = this.all().filter((hook) => hook === hookOrName || hook.name === hookOrName);
    for (const hook of matching) {
      this.#hooks.delete(hook);
      for (const event of hook.events)
        this.#byEvent.set(
          event,
          this.forEvent(event).filter((other) => other !== hook),
        );
    }
    return matching.length > 0;
  }

  /** Removes all hooks, for tests. */
  clear(): void {
    this.#hooks.clear();
    this.#byEvent.clear();
  }
}

/**
 * Holds tools, agents and global hooks. Registries are isolated from each other: tests and servers make their own.
 */
export class Registry {
  readonly tools: RegisteredTools = new RegisteredTools();
  readonly agents: RegisteredAgents = new RegisteredAgents();
  readonly hooks: RegisteredHooks = new RegisteredHooks();
}

/** The registry for everything that does not name another. */
export const defaultRegistry: Registry = new Registry();

/** The tools of the default registry. */
export const ToolRegistry: RegisteredTools = defaultRegistry.tools;

/** The agents of the default registry. */
export const AgentRegistry: RegisteredAgents = defaultRegistry.agents;

/** The global hooks of the default registry. */
export const HookRegistry: RegisteredHooks = defaultRegistry.hooks;
