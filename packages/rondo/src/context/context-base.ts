// What queues and pools share: a limit, tags, a registry, hooks, and their JSON.

import { checkOptions } from "../error/check.ts";
import { InvalidJsonError } from "../error/json-errors.ts";
import type { HookEvent, HookEvents } from "../hook/events.ts";
import { fire, neverAborted } from "../hook/fire.ts";
import type { Hook } from "../hook/hook.ts";
import { HookList } from "../hook/hook-list.ts";
import { toTags } from "../hook/tags.ts";
import type { JsonObject } from "../json/json-value.ts";
import { formatVersion, type SavedObject } from "../json/read.ts";
import type { Registry } from "../registry/registry.ts";
import { chooseRegistry } from "../registry/registry-option.ts";
import { ContextItem } from "./context-item.ts";
import type { ContextScope } from "./context-scope.ts";

export interface ContextBaseOptions {
  /** Labels by which global hooks choose. Default: none. */
  tags?: Iterable<string>;
  /** Whose global hooks it fires. Default: the process's default registry. */
  registry?: Registry;
}

export abstract class ContextBase implements Iterable<ContextItem> {
  abstract readonly limit: number | null;
  readonly tags: ReadonlySet<string>;
  readonly registry: Registry;
  /** The hooks of this object alone, as the library reads them. */
  protected readonly hookList: HookList;
  readonly #kind: "queue" | "pool";

  constructor(kind: "queue" | "pool", options: ContextBaseOptions) {
    checkOptions("options", options, ["limit", "tags", "registry"]);
    this.#kind = kind;
    this.hookList = new HookList(kind);
    this.tags = toTags("tags", options.tags);
    this.registry = chooseRegistry(options.registry).registry;
  }

  /** A copy of the items, oldest first. */
  abstract get items(): ContextItem[];

  /** The hooks of this object alone. */
  get hooks(): readonly Hook[] {
    return this.hookList.all();
  }

  [Symbol.iterator](): Iterator<ContextItem> {
    return this.items[Symbol.iterator]();
  }

  toJSON(): JsonObject {
    return {
      version: formatVersion,
      limit: this.limit,
      items: this.items.map((item) => item.toJSON()),
      tags: [...this.tags],
    };
  }

  protected fire<E extends HookEvent>(event: E, ...args: HookEvents[E]): Promise<void> | undefined {
    const source = { hooks: [this.hookList], registry: this.registry, tags: this.tags };
    return fire(event, source, args, { [this.#kind]: this, signal: neverAborted() });
  }
}

export function readLimit(saved: SavedObject): number {
  const limit = saved.number("limit");
  if (limit !== undefined && Number.isInteger(limit) && limit >= 1) return limit;
  throw new InvalidJsonError(saved.pathOf("limit"), "a whole number from 1", limit);
}

export function readItems(saved: SavedObject, scope: ContextScope): ContextItem[] {
  return saved
    .list("items")
    .map((item, index) =>
      ContextItem.fromJSON(item, { ...scope, path: `${saved.pathOf("items")}[${index}]` }),
    );
}
