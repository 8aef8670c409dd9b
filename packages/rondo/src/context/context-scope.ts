// Where saved context is restored to, and where it stands in the data.

import { checkOptions } from "../error/check.ts";
import type { Registry } from "../registry/registry.ts";

export interface ContextScope {
  /** Whose hooks are fired, and where the tools of saved turns are. Default: the process's default registry. */
  registry?: Registry;
  /** Tools of saved turns that are in no registry, looked through first. */
  tools?: Iterable<unknown>;
  /** Where the data stands in a larger whole, for error messages. */
  path?: string;
}

export function checkScope(scope: ContextScope): void {
  checkOptions("options", scope, ["registry", "tools", "path"]);
}
