// Parses the imports of a module, and resolves them to files.
import { readFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import { dirname } from "node:path";
import { type Expression, parseSync, Visitor } from "oxc-parser";
import { ResolverFactory } from "oxc-resolver";

export interface Import {
  readonly specifier: string;
  /** Erased at run time: `import type` and `export type … from`. */
  readonly typeOnly: boolean;
  /** `import()`: loaded when the code comes there. */
  readonly isDynamic: boolean;
}

/** All imports of a module: static, dynamic, re-exports, `require` and types. */
export function importsOf(file: string): Import[] {
  const { program, errors } = parseSync(file, readFileSync(file, "utf8"));
  if (errors[0]) throw new Error(`${file} cannot be parsed: ${errors[0].message}`);

  const found: Import[] = [];
  const add = (specifier: unknown, typeOnly: boolean, isDynamic = false): void => {
    if (typeof specifier !== "string")
      throw new Error(`${file} imports a computed name: no test can follow it.`);
    found.push({ specifier, typeOnly, isDynamic });
  };
  new Visitor({
    // `import { type A } from "a"` still loads "a" at run time, so only the type-only statement counts as such.
    ImportDeclaration: (node) => add(node.source.value, node.importKind === "type"),
    ExportAllDeclaration: (node) => add(node.source.value, node.exportKind === "type"),
    ExportNamedDeclaration: (node) => {
      if (node.source) add(node.source.value, node.exportKind === "type");
    },
    ImportExpression: ({ source }) => {
      if (!isUsersFile(source)) add("value" in source ? source.value : undefined, false, true);
    },
    TSImportType: (node) => add(node.source.value, true),
    CallExpression: ({ callee, arguments: [first] }) => {
      if (callee.type !== "Identifier" || callee.name !== "require") return;
      add(first && "value" in first ? first.value : undefined, false);
    },
  }).visit(program);
  return found;
}

/** `import(pathToFileURL(file).href)`: a file chosen by the user, such as a config, outside the tree. */
function isUsersFile(source: Expression): boolean {
  if (source.type !== "MemberExpression" || source.object.type !== "CallExpression") return false;
  const { callee } = source.object;
  return callee.type === "Identifier" && callee.name === "pathToFileURL";
}

/** True if the module has an `export * from`, with or without a name. */
export function exportsEverythingOf(file: string): boolean {
  const { program } = parseSync(file, readFileSync(file, "utf8"));
  return program.body.some((statement) => statement.type === "ExportAllDeclaration");
}

// Without the condition "node": resolves what a runtime without Node would load.
const resolver = new ResolverFactory({ conditionNames: ["rondo-source", "import", "default"] });

/** The file of a specifier; a Node built-in resolves to itself, with its prefix. */
export function resolveImport(from: string, specifier: string): string {
  if (isBuiltin(specifier)) return specifier.startsWith("node:") ? specifier : `node:${specifier}`;
  const { path, builtin, error } = resolver.sync(dirname(from), specifier);
  if (builtin) return builtin.resolved;
  if (!path) throw new Error(`${from} imports '${specifier}', which cannot be found: ${error}`);
  return path;
}
