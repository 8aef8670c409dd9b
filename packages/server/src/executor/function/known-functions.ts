// The functions that clients defined lately. Agents send the same definitions with every request, and to compile their
// schemas anew would cost more than the rest of the request.

import type { ToolDefinition } from "../../protocol/tools.ts";

export interface KnownFunctionsLimits {
  readonly functions: number;
  /** The JSON of all definitions together. Compiled, they take many times as many bytes. */
  readonly chars: number;
}

interface Entry<Known> {
  readonly name: string | undefined;
  readonly definition: Compared;
  /** Nothing in it can be changed, so that requests and owners can share it. */
  readonly known: Known;
}

export class KnownFunctions<Known> {
  readonly #limits: KnownFunctionsLimits;
  /** By the JSON of their definitions, the one that was added first at the beginning. */
  readonly #entries = new Map<string, Entry<Known>>();
  /** By their names, those that were used last: they are compared, which is quicker than writing JSON. */
  readonly #recent = new Map<string | undefined, Entry<Known>>();
  #chars = 0;

  constructor(limits: KnownFunctionsLimits) {
    this.#limits = limits;
  }

  /** The function of a definition, from an earlier request or made now. */
  get(definition: ToolDefinition, make: () => Known): Known {
    const { name } = definition;
    const recent = this.#recent.get(name);
    if (recent && isSame(recent.definition, definition)) return recent.known;
    const key = JSON.stringify(definition);
    const known = this.#entries.get(key);
    const entry = known ?? this.#add(key, { name, definition: toCompared(definition), known: make() });
    if (this.#entries.has(key)) this.#recent.set(name, entry);
    return entry.known;
  }

  #add(key: string, added: Entry<Known>): Entry<Known> {
    this.#entries.set(key, added);
    this.#chars += key.length;
    for (const [oldest, entry] of this.#entries) {
      if (this.#chars <= this.#limits.chars && this.#entries.size <= this.#limits.functions) break;
      const { name } = entry;
      if (this.#recent.get(name) === entry) this.#recent.delete(name);
      this.#entries.delete(oldest);
      this.#chars -= oldest.length;
    }
    return added;
  }
}

/** A value as it is compared: an object as its keys in their order and their values, a list as its entries. */
type Compared =
  | { readonly keys: readonly string[]; readonly values: readonly Compared[] }
  | readonly Compared[]
  | string
  | number
  | boolean
  | null
  | undefined;

function toCompared(value: unknown): Compared {
  if (typeof value !== "object" || value === null) return value as Compared;
  if (Array.isArray(value)) return value.map(toCompared);
  return { keys: Object.keys(value), values: Object.values(value).map(toCompared) };
}

const isList = (value: unknown): value is readonly Compared[] => Array.isArray(value);

/**
 * Whether a value has the JSON of a known one, in the same order: models read a schema as it is written. Makes no
 * objects: this runs for each field of each tool of each request.
 */
function isSame(known: Compared, value: unknown): boolean {
  if (typeof known !== "object" || known === null) return known === value;
  if (typeof value !== "object" || value === null) return false;
  if (isList(known)) {
    if (!Array.isArray(value) || value.length !== known.length) return false;
    for (let index = 0; index < value.length; index += 1)
      if (!isSame(known[index], value[index])) return false;
    return true;
  }
  if (Array.isArray(value)) return false;
  const { keys, values } = known;
  let index = 0;
  for (const key in value) {
    if (key !== keys[index] || !isSame(values[index], (value as Readonly<Record<string, unknown>>)[key]))
      return false;
    index += 1;
  }
  return index === keys.length;
}
