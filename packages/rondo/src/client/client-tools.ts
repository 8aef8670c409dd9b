// The tools of a client: its own, and those that its sources offer before each run.

import { untilAborted } from "../async/until-aborted.ts";
import { InvalidArgumentError, InvalidTypeError } from "../error/argument-errors.ts";
import { warn } from "../error/logger.ts";
import { AnyTool } from "../tool/tool.ts";
import { isToolSource, type ToolSource } from "../tool/tool-source.ts";
import { withSubtools } from "../turn/turn-options.ts";

export class ClientTools {
  readonly #own: readonly AnyTool[];
  readonly #sources: readonly ToolSource[];
  #all: readonly AnyTool[];

  constructor(tools: unknown) {
    if (typeof (tools as Partial<Iterable<unknown>> | null)?.[Symbol.iterator] !== "function")
      throw new InvalidTypeError({ field: "tools", expected: "a list of tools", received: tools });
    const list = [...(tools as Iterable<unknown>)].map(checkTool);
    this.#sources = list.filter((it): it is ToolSource => !(it instanceof AnyTool));
    this.#own = list.filter((it) => it instanceof AnyTool);
    this.#all = this.#own;
    const names = this.#own.map(({ name }) => name);
    const twice = names.find((name, index) => names.indexOf(name) < index);
    if (twice !== undefined)
      throw new InvalidArgumentError({
        field: "tools",
        expected: "each tool name once",
        received: twice,
        hint: `Duplicate tool name: ${twice}.`,
      });
  }

  /** All of them, as they were when the last run began. */
  get all(): readonly AnyTool[] {
    return this.#all;
  }

  /** Whether some tools are known only when a run begins. */
  get hasSources(): boolean {
    return this.#sources.length > 0;
  }

  /** Asks all sources in parallel. If one fails, only its tools are unavailable. */
  async renew(signal: AbortSignal): Promise<void> {
    if (this.#sources.length === 0) return;
    const asked = this.#sources.map(async (source) => {
      try {
        return await source.tools(signal);
      } catch (error) {
        if (signal.aborted) return [];
        const problem = error instanceof Error ? error.message : String(error);
        warn(`The tools of ${source.name ?? "a tool source"} are unavailable. ${problem}`);
        return [];
      }
    });
    const answers = await untilAborted(Promise.all(asked), signal);
    const names = new Set(this.#own.flatMap(withSubtools).map(({ wireName }) => wireName));
    const all = [...this.#own];
    for (const [index, tools] of answers.entries())
      for (const tool of tools) {
        const added = distinct(tool, this.#sources[index] as ToolSource, names);
        if (added) all.push(added);
      }
    this.#all = all;
  }
}

/** The tool, prefixed if its name is taken; nothing, and a warning, if that name is taken too. */
function distinct(tool: AnyTool, source: ToolSource, names: Set<string>): AnyTool | undefined {
  for (const candidate of [tool, source.prefixed?.(tool) ?? tool]) {
    const wireNames = withSubtools(candidate).map(({ wireName }) => wireName);
    if (wireNames.some((name) => names.has(name))) continue;
    for (const name of wireNames) names.add(name);
    return candidate;
  }
  warn(`The tool '${tool.name}' of ${source.name ?? "a tool source"} is left out: its name is taken.`);
  return undefined;
}

function checkTool(tool: unknown, index: number): AnyTool | ToolSource {
  if (tool instanceof AnyTool || isToolSource(tool)) return tool;
  throw new InvalidTypeError({
    field: `tools[${index}]`,
    expected: "a tool made by tool(), or a source of tools",
    received: tool,
  });
}
