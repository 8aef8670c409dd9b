// The version of this package, wherever its files lie: as sources or built.

import { readFileSync } from "node:fs";
import { findPackageJSON } from "node:module";

export function packageVersion(): string {
  const file = findPackageJSON(import.meta.url);
  if (file === undefined) throw new Error("The package.json of @rondo/server is missing. Install it again.");
  return (JSON.parse(readFileSync(file, "utf8")) as { version: string }).version;
}
