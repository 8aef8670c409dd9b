// The tools of a run, by the names under which the model knows them.

import { InvalidArgumentError } from "../error/argument-errors.ts";
import { matchToolName } from "../model/match-tool-name.ts";
import type { AnyTool, OpenAITool } from "../tool/tool.ts";
import { withSubtools } from "../turn/turn-options.ts";
import type { LoopOptions } from "./options.ts";

export class OfferedTools {
  readonly #all = new Map<string, AnyTool>();
  readonly #allowed = new Map<string, AnyTool>();
  readonly #offered: ReadonlyMap<string, AnyTool>;

  constructor(
    tools: Iterable<AnyTool>,
    { isAllowed = () => true, offersAll = false }: Pick<LoopOptions, "isAllowed" | "offersAll">,
  ) {
    this.#offered = offersAll ? this.#all : this.#allowed;
    for (const tool of [...tools].flatMap(withSubtools)) {
      const other = this.#all.get(tool.wireName);
      if (other !== undefined && other !== tool)
        throw new InvalidArgumentError({
          field: "tools",
          expected: "each name once, as the model sees it",
          received: tool.wireName,
          hint: `Duplicate tool name: ${other.name}${other.name === tool.name ? "" : ` and ${tool.name}`}.`,
        });
      this.#all.set(tool.wireName, tool);
      if (isAllowed(tool)) this.#allowed.set(tool.wireName, tool);
    }
  }

  /** What the model is offered. */
  get definitions(): OpenAITool[] {
    return Array.from(this.#offered.values(), (tool) => tool.toOpenAI());
  }

  /** What the model may call, in words. */
  get names(): string {
    return [...this.#allowed.keys()].join(", ") || "none";
  }

  /** The tool that a model means, also where it wrote the name a little differently. */
  find(name: string): AnyTool | undefined {
    const wireName = this.#all.has(name) ? name : matchToolName(name, [...this.#offered.keys()]);
    return wireName === undefined ? undefined : this.#all.get(wireName);
  }

  isAllowed(tool: AnyTool): boolean {
    return this.#allowed.has(tool.wireName);
  }
}
