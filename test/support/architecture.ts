// The rules between the folders of a source tree. Each function returns its violations as readable lines.
import { globSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { importsOf, resolveImport } from "./imports.ts";

export interface Layers {
  /** For each folder, the folders below it: besides itself, it may import only these. */
  readonly below: Readonly<Record<string, readonly string[]>>;
  /** Files that may import types from folders above, because they are a shared vocabulary. */
  readonly vocabulary: readonly string[];
  /** Files directly in the source tree. They may import everything, and nothing may import them. */
  readonly entries: readonly string[];
}

/** The source files that ship, as paths relative to the tree. */
function sourceFiles(tree: string): string[] {
  return globSync("**/*.{ts,tsx}", {
    cwd: tree,
    exclude: ["**/*.test.ts", "**/*.test-d.ts", "**/testkit/**"],
  })
    .map((file) => file.replaceAll("\\", "/"))
    .toSorted();
}

/** Imports that point up, and folders or files without a layer. */
export function wrongDirections(tree: string, { below, vocabulary, entries }: Layers): string[] {
  const wrong: string[] = [];
  const needed = new Set<string>();
  for (const file of sourceFiles(tree)) {
    const folder = layerOf(file);
    if (folder === undefined) {
      if (!entries.includes(file))
        wrong.push(`${file} is not in a folder: only ${entries.join(", ")} may be at the top.`);
      continue;
    }
    const allowed = below[folder];
    if (!allowed) {
      wrong.push(
        `The folder of ${file} is not in the table of layers: add '${folder}' and what it may import.`,
      );
      continue;
    }
    for (const { target, typeOnly } of localImports(tree, file)) {
      const targetFolder = layerOf(target);
      if (targetFolder === folder || (targetFolder && allowed.includes(targetFolder))) continue;
      if (typeOnly && targetFolder && vocabulary.includes(file)) {
        needed.add(file);
        continue;
      }
      const kind = typeOnly ? "imports types of" : "imports";
      wrong.push(`${file} ${kind} ${target}, but '${folder}' may only import ${list(allowed)}.`);
    }
  }
  for (const file of vocabulary)
    if (!needed.has(file))
      wrong.push(`${file} no longer imports types from above: remove it from the vocabulary.`);
  return [...new Set(wrong)];
}

/** Import cycles at run time, each as `a.ts → b.ts → a.ts`. */
export function cycles(tree: string): string[] {
  const found: string[] = [];
  const finished = new Set<string>();
  const visit = (file: string, path: readonly string[]): void => {
    const start = path.indexOf(file);
    if (start >= 0) found.push([...path.slice(start), file].join(" → "));
    if (start >= 0 || finished.has(file)) return;
    for (const { target, typeOnly } of localImports(tree, file))
      if (!typeOnly) visit(target, [...path, file]);
    finished.add(file);
  };
  for (const file of sourceFiles(tree)) visit(file, []);
  return found;
}

/** Every file and built-in that the entry loads, with the chain of imports that leads to it. */
export function reachableFrom(entry: string): Map<string, readonly string[]> {
  const chains = new Map<string, readonly string[]>([[entry, [entry]]]);
  // Entries added to a map during iteration are visited too.
  for (const [file, chain] of chains) {
    if (file.startsWith("node:")) continue;
    for (const { specifier, typeOnly } of importsOf(file)) {
      if (typeOnly) continue;
      const target = resolveImport(file, specifier);
      if (!chains.has(target)) chains.set(target, [...chain, target]);
    }
  }
  return chains;
}

/** The packages that are loaded with a file of the server at once, and not when they are needed, also by the library. */
export function packagesLoadedWith(entry: string): string[] {
  const files = new Set([entry]);
  const packages = new Set<string>();
  // Entries added to a set during iteration are visited too.
  for (const file of files)
    for (const { specifier, typeOnly, isDynamic } of importsOf(file)) {
      if (typeOnly || isDynamic) continue;
      if (/^(?:[.#]|rondo\b)/.test(specifier)) files.add(resolveImport(file, specifier));
      else if (!specifier.startsWith("node:")) packages.add(specifier);
    }
  return [...packages].toSorted();
}

/** Names of the packages that a source tree imports, including types. */
export function packagesImported(tree: string): string[] {
  const names = sourceFiles(tree)
    .flatMap((file) => importsOf(join(tree, file)))
    .filter(({ specifier }) => !/^[.#/]/.test(specifier) && !specifier.startsWith("node:"))
    .map(({ specifier }) => specifier.split("/", specifier.startsWith("@") ? 2 : 1).join("/"));
  return [...new Set(names)].toSorted();
}

function localImports(tree: string, file: string): { target: string; typeOnly: boolean }[] {
  return importsOf(join(tree, file))
    .filter(({ specifier }) => specifier.startsWith(".") && !/\.(css|svg)$/.test(specifier))
    .map(({ specifier, typeOnly }) => ({
      target: relative(tree, join(tree, dirname(file), specifier)).replaceAll("\\", "/"),
      typeOnly,
    }));
}

function layerOf(file: string): string | undefined {
  return file.includes("/") ? file.slice(0, file.indexOf("/")) : undefined;
}

function list(folders: readonly string[]): string {
  return folders.length > 0 ? `itself, ${folders.join(", ")}` : "itself";
}
