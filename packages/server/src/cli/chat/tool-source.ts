// The tools that modules export.

import { basename, resolve } from "node:path";
import type { AnyTool } from "rondo";
import { loadModule } from "../load-module.ts";

export interface ToolSource extends AsyncDisposable {
  readonly tools: readonly AnyTool[];
}

/**
 * The tools that a module exports: each by name, or a list as its default export. Node strips the types of
 * TypeScript by itself. Throws an error for the user.
 */
export async function toolsOfFile(file: string, cwd: string): Promise<ToolSource> {
  const name = basename(file);
  const module = await loadModule(resolve(cwd, file), `The tools of ${file}`);
  return { tools: toolsIn(module, name), async [Symbol.asyncDispose]() {} };
}

/** The tools among the exports of a module, without duplicates. */
export function toolsIn(module: Readonly<Record<string, unknown>>, name: string): AnyTool[] {
  const exported = Object.values(module).flat();
  const tools = [...new Set(exported.filter(isTool))];
  if (tools.length === 0)
    throw new Error(
      `${name} exports no tools. Write \`export const add = tool("add", …)\`, or a list of tools as its default export.`,
    );
  return tools;
}

/** Drops tools whose name is already taken. */
export function distinctTools(tools: readonly AnyTool[], onWarning: (message: string) => void): AnyTool[] {
  const byName = new Map<string, AnyTool>();
  for (const tool of tools) {
    if (byName.has(tool.wireName)) onWarning(`Two tools are called '${tool.name}': the first is used.`);
    else byName.set(tool.wireName, tool);
  }
  return [...byName.values()];
}

/** Duck-typed: the file may import its own copy of the library. */
function isTool(value: unknown): value is AnyTool {
  const { wireName, toOpenAI, execute } = Object(value) as Partial<AnyTool>;
  return typeof wireName === "string" && typeof toOpenAI === "function" && typeof execute === "function";
}
