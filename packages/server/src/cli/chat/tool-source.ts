// Where the tools of a chat come from. So far that is a file; whatever else brings tools gives the same.

import { basename, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { AnyTool } from "rondo";

export interface ToolSource extends AsyncDisposable {
  readonly tools: readonly AnyTool[];
}

/**
 * The tools that a module exports: each by name, or a list as its default export. Node strips the types of
 * TypeScript by itself. Throws in words.
 */
export async function toolsOfFile(file: string, cwd: string): Promise<ToolSource> {
  const name = basename(file);
  const module = (await import(pathToFileURL(resolve(cwd, file)).href).catch((error: unknown) => {
    throw new Error(`The tools of ${file} could not be loaded: ${reasonOf(error)}`, { cause: error });
  })) as Record<string, unknown>;
  return { tools: toolsIn(module, name), async [Symbol.asyncDispose]() {} };
}

/** The tools among the exports of a module, each once. */
export function toolsIn(module: Readonly<Record<string, unknown>>, name: string): AnyTool[] {
  const exported = Object.values(module).flat();
  const tools = [...new Set(exported.filter(isTool))];
  if (tools.length === 0)
    throw new Error(
      `${name} exports no tools. Write \`export const add = tool("add", …)\`, or a list of tools as its default export.`,
    );
  return tools;
}

/** By its looks: the file may have its own copy of the library. */
function isTool(value: unknown): value is AnyTool {
  const { wireName, toOpenAI, execute } = Object(value) as Partial<AnyTool>;
  return typeof wireName === "string" && typeof toOpenAI === "function" && typeof execute === "function";
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return `it threw ${String(error)}`;
  if (/^Cannot find package '(@rondo\/server|rondo)'/.test(error.message))
    return "it needs the package 'rondo', which is not installed beside it. Run `npm install rondo` in its folder.";
  // A syntax error tells its place only in the stack, before the message.
  const [place = ""] = error.stack?.split("\n") ?? [];
  const line = /^(?:file:|\/|[A-Za-z]:\\).*:(\d+)$/.exec(place)?.[1];
  return `${error.message}${line === undefined ? "" : ` (line ${line})`}`;
}
