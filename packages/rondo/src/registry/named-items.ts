// Items by unique name.

import { InvalidArgumentError } from "../error/argument-errors.ts";
import { checkString, requireType } from "../error/check.ts";

export abstract class NamedItems<T extends { readonly name: string }> {
  protected readonly items = new Map<string, T>();

  /** The kind of the items, for error messages: `tool`. */
  protected abstract readonly kind: string;
  protected abstract notFound(name: string, known: readonly string[]): Error;

  /** The item of that name; throws when there is none. */
  get(name: string): T {
    const item = this.items.get(checkString("name", name));
    if (item === undefined) throw this.notFound(name, [...this.items.keys()]);
    return item;
  }

  has(name: string): boolean {
    return this.items.has(name);
  }

  /** All items, in order of registration. */
  all(): T[] {
    return [...this.items.values()];
  }

  /** Adds an item. Adding it again does nothing; another item of the same name is an error. */
  register(item: T): void {
    const hasName = typeof (item as T | null)?.name === "string";
    requireType(hasName, this.kind, `a ${this.kind} with a name`, item);
    const known = this.items.get(item.name);
    if (known === item) return;
    if (known !== undefined)
      throw new InvalidArgumentError({
        field: "name",
        expected: `a name that no other ${this.kind} has`,
        received: item.name,
        hint: `The ${this.kind} '${item.name}' is already registered: choose another name, unregister it first, or use a registry of your own.`,
      });
    this.items.set(item.name, item);
  }

  /** Removes the item of that name. Returns whether there was one. */
  unregister(name: string): boolean {
    return this.items.delete(name);
  }

  /** Removes all items, for tests. */
  clear(): void {
    this.items.clear();
  }
}
