// The context of an agent by id: items that are looked up when they are needed.

import { InvalidArgumentError } from "../error/argument-errors.ts";
import { checkLimit, checkOptions, checkString } from "../error/check.ts";
import { InvalidJsonError } from "../error/json-errors.ts";
import { MissingContextItemError } from "../error/lookup-errors.ts";
import type { AttachOptions, Hook, HookInput } from "../hook/hook.ts";
import { SavedObject } from "../json/read.ts";
import { defaultRegistry } from "../registry/registry.ts";
import { ContextBase, type ContextBaseOptions, readItems, readLimit } from "./context-base.ts";
import { type ContextItem, checkItem } from "./context-item.ts";
import type { ContextBranchOptions } from "./context-queue.ts";
import { type ContextScope, checkScope } from "./context-scope.ts";

export interface ContextPoolOptions extends ContextBaseOptions {
  /** How many items it holds: a whole number from 1, or `null` for any number (the default). */
  limit?: number | null;
}

/** Keeps items by their id. When it is full, the item added or replaced longest ago is evicted. */
export class ContextPool extends ContextBase {
  readonly limit: number | null;
  readonly #items = new Map<string, ContextItem>();

  constructor(options: ContextPoolOptions = {}) {
    super("pool", options);
    const { limit = null } = options;
    this.limit = limit === null ? null : checkLimit("limit", limit);
  }

  get size(): number {
    return this.#items.size;
  }

  /** A copy of the items, oldest first. */
  get items(): ContextItem[] {
    return [...this.#items.values()];
  }

  has(id: string): boolean {
    return this.#items.has(id);
  }

  /** The item of that id; throws if there is none. */
  get(id: string): ContextItem {
    const item = this.#items.get(checkString("id", id));
    if (!item) throw new MissingContextItemError(id, [...this.#items.keys()]);
    return item;
  }

  /**
   * Adds an item, which must have an id and a description. An item of the same id is replaced, and counts as new.
   * If a `beforeAdd` hook throws, nothing is added or evicted.
   */
  async add(item: ContextItem): Promise<void> {
    const hint = "A pool finds its items by id and lists them by description.";
    const id = checkPoolItem(
      checkItem("item", item),
      (field) =>
        new InvalidArgumentError({ field: `item.${field}`, expected: "a string", received: null, hint }),
    );
    await this.fire("pool.beforeAdd", this, item);
    // Checked after each wait, in the same tick as the change: other calls may run in between.
    while (!this.#hasRoomFor(id)) await this.#evictOldest();
    this.#items.delete(id); // moves a replaced item to the end, so that it is not evicted next
    this.#items.set(id, item);
    await this.fire("pool.afterAdd", this, item);
  }

  /** Removes the item of that id; throws if there is none. An item that is replaced meanwhile stays. */
  async remove(id: string): Promise<void> {
    const item = this.get(id);
    await this.fire("pool.beforeRemove", this, item);
    // While the hooks ran, it may have been removed, or replaced by one that they have not seen.
    if (this.#items.get(id) !== item) return;
    this.#items.delete(id);
    await this.fire("pool.afterRemove", this, item);
  }

  /** Removes all items. */
  async clear(): Promise<void> {
    await this.fire("pool.beforeClear", this, new Map(this.#items));
    this.#items.clear();
    await this.fire("pool.afterClear", this);
  }

  /** A line for each item, `- [id] description`. For a prompt, so that a model can ask for an item. */
  catalogue(): string {
    return this.items.map(({ id, description }) => `- [${id}] ${description}`).join("\n");
  }

  /** An independent copy of the same class. With a smaller limit it keeps the newest items. Fires no hooks. */
  branch(options: ContextBranchOptions<number | null> = {}): this {
    checkOptions("options", options, ["limit", "hooks"]);
    const { limit = this.limit, hooks } = options;
    const Class = this.constructor as new (options: ContextPoolOptions) => this;
    const child = new Class({ limit, tags: this.tags, registry: this.registry });
    const kept = child.limit === null ? this.items : this.items.slice(-child.limit);
    for (const item of kept) child.#items.set(item.id as string, item);
    child.hookList.inherit(this.hookList, hooks);
    return child;
  }

  /** Restores exactly what was saved, without hooks and eviction. */
  static fromJSON(json: unknown, options: ContextScope = {}): ContextPool {
    checkScope(options);
    const { registry = defaultRegistry, path = "contextPool" } = options;
    const saved = new SavedObject(json, path);
    const limit = saved.raw("limit") === undefined ? null : readLimit(saved);
    const pool = new ContextPool({ limit, tags: saved.strings("tags"), registry });
    for (const [index, item] of readItems(saved, options).entries()) {
      const path = `${saved.pathOf("items")}[${index}]`;
      const id = checkPoolItem(item, (field) => new InvalidJsonError(`${path}.${field}`, "a string", null));
      pool.#items.set(id, item);
    }
    return pool;
  }

  /** Before an item is added: `(pool, item)`. Throwing keeps it out. */
  beforeAdd(fn: HookInput<"pool.beforeAdd">, options?: AttachOptions): Hook<"pool.beforeAdd"> {
    return this.hookList.attach("pool.beforeAdd", fn, options);
  }

  /** After an item was added: `(pool, item)`. */
  afterAdd(fn: HookInput<"pool.afterAdd">, options?: AttachOptions): Hook<"pool.afterAdd"> {
    return this.hookList.attach("pool.afterAdd", fn, options);
  }

  /** Before an item is removed: `(pool, item)`. Throwing keeps it. */
  beforeRemove(fn: HookInput<"pool.beforeRemove">, options?: AttachOptions): Hook<"pool.beforeRemove"> {
    return this.hookList.attach("pool.beforeRemove", fn, options);
  }

  /** After an item was removed: `(pool, item)`. */
  afterRemove(fn: HookInput<"pool.afterRemove">, options?: AttachOptions): Hook<"pool.afterRemove"> {
    return this.hookList.attach("pool.afterRemove", fn, options);
  }

  /** Before the pool is cleared: `(pool, current)`. Throwing keeps the items. */
  beforeClear(fn: HookInput<"pool.beforeClear">, options?: AttachOptions): Hook<"pool.beforeClear"> {
    return this.hookList.attach("pool.beforeClear", fn, options);
  }

  /** After the pool was cleared: `(pool)`. */
  afterClear(fn: HookInput<"pool.afterClear">, options?: AttachOptions): Hook<"pool.afterClear"> {
    return this.hookList.attach("pool.afterClear", fn, options);
  }

  /** Before the oldest item is evicted: `(pool, oldest)`. */
  onEvict(fn: HookInput<"pool.onEvict">, options?: AttachOptions): Hook<"pool.onEvict"> {
    return this.hookList.attach("pool.onEvict", fn, options);
  }

  #hasRoomFor(id: string): boolean {
    return this.limit === null || this.#items.size < this.limit || this.#items.has(id);
  }

  async #evictOldest(): Promise<void> {
    const oldest = this.#oldest() as ContextItem;
    await this.fire("pool.onEvict", this, oldest);
    // While the hooks ran, the item may have been replaced or removed.
    if (this.#oldest() === oldest) this.#items.delete(oldest.id as string);
  }

  #oldest(): ContextItem | undefined {
    return this.#items.values().next().value;
  }
}

/** The id of an item that can be in a pool; `refuse` gets the field that is missing. */
function checkPoolItem({ id, description }: ContextItem, refuse: (field: string) => Error): string {
  if (id === null) throw refuse("id");
  if (description === null) throw refuse("description");
  return id;
}
