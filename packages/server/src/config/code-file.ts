// Reads a configuration that is a program: its default export.

import { basename } from "node:path";
import { pathToFileURL } from "node:url";
import { ConfigError } from "./config-error.ts";
import type { Layered } from "./layers.ts";

/** The default export of a module. Node strips the types of TypeScript by itself. Throws a `ConfigError`. */
export async function readCode(file: string): Promise<Layered> {
  const name = basename(file);
  const fail = (message: string, options?: ErrorOptions): never => {
    throw new ConfigError([{ key: "", source: name, message }], options);
  };
  const module = await import(pathToFileURL(file).href).catch((error: unknown) =>
    fail(`could not be loaded: ${reasonOf(error)}`, { cause: error }),
  );
  const exported = module as { default?: unknown };
  if (exported.default === undefined)
    fail("has no default export. Write `export default defineConfig({ … })`.");
  return { values: exported.default, sourceOf: () => name };
}

/** A syntax error tells its place only in the stack, before the message. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return `it threw ${String(error)}`;
  const [place = ""] = error.stack?.split("\n") ?? [];
  const line = /^(?:file:|\/|[A-Za-z]:\\).*:(\d+)$/.exec(place)?.[1];
  return `${error.name}: ${error.message}${line === undefined ? "" : ` (line ${line})`}`;
}
