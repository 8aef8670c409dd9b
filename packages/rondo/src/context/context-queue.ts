// The recent context of an agent: a queue that evicts the oldest item when it is full.

import { checkLimit, checkOptions, requireType, requireValue } from "../error/check.ts";
import { describe } from "../error/describe.ts";
import type { AttachOptions, Hook, HookInput } from "../hook/hook.ts";
import { SavedObject } from "../json/read.ts";
import { defaultRegistry } from "../registry/registry.ts";
import { ContextBase, type ContextBaseOptions, readItems, readLimit } from "./context-base.ts";
import { type ContextItem, checkItem } from "./context-item.ts";
import { type ContextScope, checkScope } from "./context-scope.ts";

export interface ContextQueueOptions extends ContextBaseOptions {
  /** How many items it holds: a whole number from 1. */
  limit: number;
}

export interface ContextBranchOptions<Limit> {
  /** The limit of the branch. Default: the same. */
  limit?: Limit;
  /** The hooks of the branch. Default: all of this one's; `null` or an empty list for none. */
  hooks?: readonly Hook[] | null;
}

/** Keeps the newest `limit` items in order. */
export class ContextQueue extends ContextBase {
  readonly limit: number;
  #items: ContextItem[] = [];

  constructor(options: ContextQueueOptions) {
    super("queue", options);
    this.limit = checkLimit("limit", options.limit);
  }

  get size(): number {
    return this.#items.length;
  }

  /** A copy of the items, oldest first. Assigning replaces them all, without hooks. */
  get items(): ContextItem[] {
    return [...this.#items];
  }

  set items(items: readonly ContextItem[]) {
    requireType(Array.isArray(items), "items", "a list of ContextItems", items);
    const list = items.map((item, index) => checkItem(`items[${index}]`, item));
    const expected = `at most ${this.limit} items, the limit of the queue`;
    requireValue(list.length <= this.limit, "items", expected, items);
    this.#items = list;
  }

  /**
   * Appends items; if the queue is full, the oldest are evicted. All items are checked first. If a `beforeAppend`
   * hook throws, none is appended.
   */
  async append(...items: ContextItem[]): Promise<void> {
    const incoming = items.map((item, index) => checkItem(`items[${index}]`, item));
    await this.fire("queue.beforeAppend", this, [...incoming], this.items);
    for (const item of incoming) {
      // Checked after each wait, in the same tick as the push: other appends may run in between.
      while (this.#items.length >= this.limit) await this.#evictOldest();
      this.#items.push(item);
    }
    await this.fire("queue.afterAppend", [...incoming], this.items);
  }

  /** Removes all items. */
  async clear(): Promise<void> {
    await this.fire("queue.beforeClear", this, this.items);
    this.#items = [];
    await this.fire("queue.afterClear", this);
  }

  /** The contents of the newest `last` items (default: all), a line each; values that are not text as JSON. */
  history(last?: number): string {
    const count = last === undefined ? this.size : checkCount(last);
    const newest = count === 0 ? [] : this.#items.slice(-count);
    return newest.map(({ content }) => toText(content)).join("\n");
  }

  /** An independent copy of the same class. With a smaller limit it keeps the newest items. Fires no hooks. */
  branch(options: ContextBranchOptions<number> = {}): this {
    checkOptions("options", options, ["limit", "hooks"]);
    const { limit = this.limit, hooks } = options;
    const Class = this.constructor as new (options: ContextQueueOptions) => this;
    const child = new Class({ limit, tags: this.tags, registry: this.registry });
    child.items = this.#items.slice(-child.limit);
    child.hookList.inherit(this.hookList, hooks);
    return child;
  }

  /** Restores exactly what was saved, without hooks and eviction. */
  static fromJSON(json: unknown, options: ContextScope = {}): ContextQueue {
    checkScope(options);
    const { registry = defaultRegistry, path = "contextQueue" } = options;
    const saved = new SavedObject(json, path);
    const queue = new ContextQueue({ limit: readLimit(saved), tags: saved.strings("tags"), registry });
    queue.#items = readItems(saved, options);
    return queue;
  }

  /** Before items are appended: `(queue, incoming, current)`. Throwing keeps them out. */
  beforeAppend(fn: HookInput<"queue.beforeAppend">, options?: AttachOptions): Hook<"queue.beforeAppend"> {
    return this.hookList.attach("queue.beforeAppend", fn, options);
  }

  /** After items were appended: `(appended, current)`. */
  afterAppend(fn: HookInput<"queue.afterAppend">, options?: AttachOptions): Hook<"queue.afterAppend"> {
    return this.hookList.attach("queue.afterAppend", fn, options);
  }

  /** Before the queue is cleared: `(queue, current)`. Throwing keeps the items. */
  beforeClear(fn: HookInput<"queue.beforeClear">, options?: AttachOptions): Hook<"queue.beforeClear"> {
    return this.hookList.attach("queue.beforeClear", fn, options);
  }

  /** After the queue was cleared: `(queue)`. */
  afterClear(fn: HookInput<"queue.afterClear">, options?: AttachOptions): Hook<"queue.afterClear"> {
    return this.hookList.attach("queue.afterClear", fn, options);
  }

  /** Before the oldest item is evicted: `(queue, oldest)`. */
  onEvict(fn: HookInput<"queue.onEvict">, options?: AttachOptions): Hook<"queue.onEvict"> {
    return this.hookList.attach("queue.onEvict", fn, options);
  }

  async #evictOldest(): Promise<void> {
    const oldest = this.#items[0] as ContextItem;
    await this.fire("queue.onEvict", this, oldest);
    // While the hooks ran, another append may have evicted it already.
    if (this.#items[0] === oldest) this.#items.shift();
  }
}

function checkCount(last: number): number {
  requireValue(Number.isInteger(last) && last >= 0, "last", "a whole number from 0", last);
  return last;
}

/** Content as text for a model. What JSON lacks, such as a bigint, must not throw. */
function toText(content: unknown): string {
  if (typeof content === "string") return content;
  try {
    return JSON.stringify(content) ?? String(content);
  } catch {
    return typeof content === "bigint" ? String(content) : describe(content);
  }
}
