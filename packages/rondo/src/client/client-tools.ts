// The tools of a client: those that it was given, and those that sources give it before each run.

import { untilAborted } from "../async/until-aborted.ts";
import { InvalidArgumentError, InvalidTypeError } from "../error/argument-errors.ts";
import { warn } from "../error/logger.ts";
import { AnyTool } from "../tool/tool.ts";
import { isToolSource, type ToolSource } from "../tool/tool-source.ts";
import { withSubtools } from "../turn/turn-options.ts";

export class ClientTools {
  readonly #given: readonly AnyTool[];
  readonly #sources: readonly ToolSource[];
  #all: readonly AnyTool[];

  constructor(tools: Iterable<AnyTool | ToolSource>) {
    if (typeof (tools as Partial<Iterable<unknown>> | null)?.[Symbol.iterator] !== "function")
      throw new InvalidTypeError({ field: "tools", expected: "a list of tools", received: tools });
    const list = [...tools];
    this.#given = checkTools(list);
    this.#sources = list.filter((it): it is ToolSource => !(it instanceof AnyTool));
    this.#all = this.#given;
  }

  /** All of them, as they were when the last run began. */
  get all(): readonly AnyTool[] {
    return this.#all;
  }

  /** Whether tools are known only when a run begins. */
  get hasSources(): boolean {
    return this.#sources.length > 0;
  }

  /** Asks the sources, all at once. One that fails is left out: its tools are missing, and the run begins. */
  async renew(signal: AbortSignal): Promise<void> {
    if (!this.hasSources) return;
    const asked = this.#sources.map(async (source) => {
      try {
        return await source.tools(signal);
      } catch (error) {
        if (signal.aborted) return [];
        const problem = error instanceof Error ? error.message : String(error);
        warn(`The tools of ${source.name ?? "a tool source"} are missing. ${problem}`);
        return [];
      }
    });
    const answers = await untilAborted(Promise.all(asked), signal);
    const names = new Set(this.#given.flatMap(withSubtools).map(({ wireName }) => wireName));
    const all = [...this.#given];
    for (const [index, tools] of answers.entries())
      for (const tool of tools) {
        const added = distinct(tool, this.#sources[index] as ToolSource, names);
        if (added) all.push(added);
      }
    this.#all = all;
  }
}

/** The tool, under a longer name if another has its own; nothing if there is none, and a warning. */
function distinct(tool: AnyTool, source: ToolSource, names: Set<string>): AnyTool | undefined {
  for (const candidate of [tool, source.prefixed?.(tool) ?? tool]) {
    const wireNames = withSubtools(candidate).map(({ wireName }) => wireName);
    if (wireNames.some((name) => names.has(name))) continue;
    for (const name of wireNames) names.add(name);
    return candidate;
  }
  warn(`The tool '${tool.name}' of ${source.name ?? "a tool source"} is left out: another has its name.`);
  return undefined;
}

function checkTools(list: readonly unknown[]): AnyTool[] {
  const names = new Set<string>();
  return list.flatMap((tool, index) => {
    if (isToolSource(tool)) return [];
    if (!(tool instanceof AnyTool))
      throw new InvalidTypeError({
        field: `tools[${index}]`,
        expected: "a tool made by tool(), or a source of tools",
        received: tool,
      });
    if (names.has(tool.name))
      throw new InvalidArgumentError({
        field: `tools[${index}]`,
        expected: "each tool name once",
        received: tool.name,
        hint: `Duplicate tool name: ${tool.name}.`,
      });
    names.add(tool.name);
    return [tool];
  });
}
