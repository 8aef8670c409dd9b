// Loads a module that a person has written, and says in words why it cannot be loaded.

import { pathToFileURL } from "node:url";

/**
 * The exports of a module. Node strips the types of TypeScript by itself. `what` begins the sentence that is thrown,
 * such as "The tools of tools.ts".
 */
export async function loadModule(path: string, what: string): Promise<Readonly<Record<string, unknown>>> {
  return import(pathToFileURL(path).href).catch((error: unknown) => {
    throw new Error(`${what} could not be loaded: ${reasonOf(error)}`, { cause: error });
  }) as Promise<Readonly<Record<string, unknown>>>;
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
