// The tools of a run, by the names under which the model knows them.

import { InvalidArgumentError } from "../error/argument-errors.ts";
import { matchToolName } from "../model/match-tool-name.ts";
import type { AnyTool } from "../tool/tool.ts";
import { withSubtools } from "../turn/turn-options.ts";

/** So many names are listed in a message. */
const mostNames = 100;

export class OfferedTools {
  readonly #all = new Map<string, AnyTool>();
  readonly #offered = new Map<string, AnyTool>();
  readonly #builtIn = new Map<string, () => AnyTool>();

  constructor(tools: Iterable<AnyTool>, isOffered: (tool: AnyTool) => boolean = () => true) {
    for (const tool of tools)
      if (tool.subtools.length === 0) this.#add(tool, isOffered);
      else for (const each of withSubtools(tool)) this.#add(each, isOffered);
  }

  #add(tool: AnyTool, isOffered: (tool: AnyTool) => boolean): void {
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

  get offered(): AnyTool[] {
    return [...this.#offered.values()];
  }

  /** Adds a tool of the loop's own, which needs nobody's permission. It is created when it is called. */
  addBuiltIn(wireName: string, create: () => AnyTool): void {
    this.#builtIn.set(wireName, create);
  }

  isBuiltIn({ wireName }: AnyTool): boolean {
    return this.#builtIn.has(wireName);
  }

  /** A name for a tool of the loop's own that no other tool has. */
  freeName(name: string): string {
    return this.#all.has(name) ? this.freeName(`rondo_${name}`) : name;
  }

  /** The names that the model may call, as a list to read. */
  get names(): string {
    const names = [...this.#offered.keys()];
    const more = names.length - mostNames;
    return `${names.slice(0, mostNames).join(", ") || "none"}${more > 0 ? ` and ${more} more` : ""}`;
  }

  /** The tool that a model means, also where it wrote the name a little differently. */
  find(name: string): AnyTool | undefined {
    const known = this.#all.get(name) ?? this.#builtIn.get(name)?.();
    if (known) return known;
    const wireName = matchToolName(name, [...this.#offered.keys()]);
    return wireName === undefined ? undefined : this.#all.get(wireName);
  }

  isOffered(tool: AnyTool): boolean {
    return this.#offered.has(tool.wireName) || this.isBuiltIn(tool);
  }
}
