// The functions that clients defined lately. Agents send the same definitions with every request, and to compile their
// schemas anew would cost more than the rest of the request.

import type { ToolDefinition } from "../../protocol/tools.ts";
import type { OfferedTool } from "../executor.ts";

/** What a definition alone decides. Nothing in it can be changed, so that requests and owners can share it. */
export type KnownFunction = Pick<OfferedTool, "tool" | "items">;

export interface KnownFunctionsLimits {
  readonly functions: number;
  /** The JSON of all definitions together. Compiled, they take many times as many bytes. */
  readonly chars: number;
}

interface Entry {
  readonly definition: ToolDefinition;
  readonly known: KnownFunction;
}

export class KnownFunctions {
  readonly #limits: KnownFunctionsLimits;
  /** By the JSON of their definitions, the one that was added first at the beginning. */
  readonly #entries = new Map<string, Entry>();
  /** By their names, those that were used last: they are compared, which is quicker than writing JSON. */
  readonly #recent = new Map<string | undefined, Entry>();
  #chars = 0;

  constructor(limits: KnownFunctionsLimits) {
    this.#limits = limits;
  }

  /** The function of a definition, from an earlier request or made now. */
  get(definition: ToolDefinition, make: () => KnownFunction): KnownFunction {
    const recent = this.#recent.get(definition.name);
    if (recent && isSame(recent.definition, definition)) return recent.known;
    const key = JSON.stringify(definition);
    const entry = this.#entries.get(key) ?? this.#add(key, { definition, known: make() });
    if (this.#entries.has(key)) this.#recent.set(definition.name, entry);
    return entry.known;
  }

  #add(key: string, added: Entry): Entry {
    this.#entries.set(key, added);
    this.#chars += key.length;
    for (const [oldest, entry] of this.#entries) {
      if (this.#chars <= this.#limits.chars && this.#entries.size <= this.#limits.functions) break;
      const { name } = entry.definition;
      if (this.#recent.get(name) === entry) this.#recent.delete(name);
      this.#entries.delete(oldest);
      this.#chars -= oldest.length;
    }
    return added;
  }
}

/** Whether two values have the same JSON, in the same order: models read a schema as it is written. */
function isSame(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  if (typeof one !== "object" || typeof other !== "object" || one === null || other === null) return false;
  if (Array.isArray(one) !== Array.isArray(other)) return false;
  const keys = Object.keys(one);
  const others = Object.keys(other);
  if (keys.length !== others.length) return false;
  const fields = one as Readonly<Record<string, unknown>>;
  const otherFields = other as Readonly<Record<string, unknown>>;
  // A loop: this runs for each field of each tool of each request.
  for (let index = 0; index < keys.length; index += 1) {
    const key = keys[index] as string;
    if (key !== others[index] || !isSame(fields[key], otherFields[key])) return false;
  }
  return true;
}
