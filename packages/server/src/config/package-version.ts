// The manifests of the installed packages, whether they run from sources or built.

import { readFileSync } from "node:fs";
import { findPackageJSON } from "node:module";

export interface Manifest {
  readonly version: string;
  readonly engines: { readonly node: string };
}

/** The package.json of `rondo` or, by default, of this package, which need not lie in a node_modules folder. */
export function readManifest(name: "@rondo/server" | "rondo" = "@rondo/server"): Manifest {
  const file = name === "rondo" ? findPackageJSON(name, import.meta.url) : findPackageJSON(import.meta.url);
  if (file === undefined) throw new Error(`The package.json of ${name} is missing. Install it again.`);
  return JSON.parse(readFileSync(file, "utf8")) as Manifest;
}

export function packageVersion(): string {
  return readManifest().version;
}
