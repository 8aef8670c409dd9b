// The registry and tools that saved context is restored with.

import { checkOptions } from "../error/check.ts";
import type { Registry } from "../registry/registry.ts";

export interface ContextScope {
  /** Whose hooks are fired, and where the tools of saved turns come from. Default: the process's default registry. */
  registry?: Registry;
  /** Unregistered tools of saved turns. They take precedence. Default: none. */
  tools?: Iterable<unknown>;
  /** The place of the data in a larger whole, for error messages. */
  path?: string;
}

export function checkScope(scope: ContextScope): void {
  checkOptions("options", scope, ["registry", "tools", "path"]);
}
