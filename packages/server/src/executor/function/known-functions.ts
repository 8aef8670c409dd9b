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

export class KnownFunctions {
  readonly #limits: KnownFunctionsLimits;
  /** By the JSON of their definitions, the one that was added first at the beginning. */
  readonly #known = new Map<string, KnownFunction>();
  #chars = 0;

  constructor(limits: KnownFunctionsLimits) {
    this.#limits = limits;
  }

  /** The function of a definition, from an earlier request or made now. */
  get(definition: ToolDefinition, make: () => KnownFunction): KnownFunction {
    const key = JSON.stringify(definition);
    const known = this.#known.get(key);
    if (known) return known;
    const made = make();
    this.#known.set(key, made);
    this.#chars += key.length;
    for (const oldest of this.#known.keys()) {
      if (this.#chars <= this.#limits.chars && this.#known.size <= this.#limits.functions) break;
      this.#known.delete(oldest);
      this.#chars -= oldest.length;
    }
    return made;
  }
}
