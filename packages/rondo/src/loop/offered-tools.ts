// The tools of a run, by the names under which the model knows them.

import { InvalidArgumentError } from "../error/argument-errors.ts";
import { matchToolName } from "../model/match-tool-name.ts";
import type { AnyTool, OpenAITool } from "../tool/tool.ts";
import { withSubtools } from "../turn/turn-options.ts";

export class OfferedTools {
  readonly #all = new Map<string, AnyTool>();
  readonly #offered = new Map<string, AnyTool>();
  #definitions: readonly OpenAITool[] | undefined;

  constructor(tools: Iterable<AnyTool>, isOffered: (tool: AnyTool) => boolean = () => true) {
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
      if (isOffered(tool)) this.#offered.set(tool.wireName, tool);
    }
  }

  /** The same list for each request of a run. */
  get definitions(): readonly OpenAITool[] {
    this.#definitions ??= Array.from(this.#offered.values(), (tool) => tool.toOpenAI());
    return this.#definitions;
  }

  /** The names that the model may call, as a list to read. */
  get names(): string {
    return [...this.#offered.keys()].join(", ") || "none";
  }

  /** The tool that a model means, also where it wrote the name a little differently. */
  find(name: string): AnyTool | undefined {
    const wireName = this.#all.has(name) ? name : matchToolName(name, [...this.#offered.keys()]);
    return wireName === undefined ? undefined : this.#all.get(wireName);
  }

  isOffered(tool: AnyTool): boolean {
    return this.#offered.has(tool.wireName);
  }
}
