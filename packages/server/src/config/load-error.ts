// Says in words why a module of a user could not be loaded, and what to do.

import { existsSync, readFileSync } from "node:fs";
import { basename, dirname, extname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

/** Continues a sentence such as "tools.ts could not be loaded: ". `path` is the file that was to be loaded. */
export function describeLoadError(error: unknown, path: string): string {
  if (!(error instanceof Error)) return `it threw ${String(error)}`;
  // A syntax error has its file and line only in the stack, before the message.
  const [, place = path, line] =
    /^((?:file:|\/|[A-Za-z]:\\).*):(\d+)$/.exec(error.stack?.split("\n")[0] ?? "") ?? [];
  const file = place.startsWith("file:") ? fileURLToPath(place) : place;
  return (
    describeCommonJs(error, file) ??
    describeMissing(error, path) ??
    `${error.name === "Error" ? "" : `${error.name}: `}${error.message}${line === undefined ? "" : ` (line ${line})`}${typeScriptHint(error)}`
  );
}

const moduleSyntax =
  /^Cannot use import statement outside a module|^Unexpected token 'export'|^Cannot use 'import.meta' outside a module|^await is only valid in async functions and the top level bodies of modules/;

/** `npm init -y` writes `"type": "commonjs"`, so that Node reads .ts and .js files without `import` and `export`. */
function describeCommonJs(error: Error, file: string): string | undefined {
  if (!(error instanceof SyntaxError) || !moduleSyntax.test(error.message)) return undefined;
  const manifest = nearestManifest(dirname(file));
  if (manifest === undefined || !/^\.[tj]s$/.test(extname(file))) return undefined;
  const esmName = basename(file).replace(/(?=[tj]s$)/, "m");
  return `Node reads ${basename(file)} as CommonJS, without import and export, because ${manifest} has "type": "commonjs". Run \`npm pkg set type=module\` in that folder, or rename the file to ${esmName}.`;
}

function nearestManifest(folder: string): string | undefined {
  const manifest = join(folder, "package.json");
  if (existsSync(manifest))
    return /"type"\s*:\s*"commonjs"/.test(readFileSync(manifest, "utf8")) ? manifest : undefined;
  return dirname(folder) === folder ? undefined : nearestManifest(dirname(folder));
}

function describeMissing(error: Error, path: string): string | undefined {
  const [, kind, name = "", importer = ""] =
    /^Cannot find (package|module) '(.+?)' imported from (.+)$/.exec(error.message) ?? [];
  if (kind === "package")
    return `it needs the package '${name}', which is not installed beside it. Run \`npm install ${name}\` in its folder.`;
  if (kind !== "module") return undefined;
  const missing = relative(dirname(path), name);
  return `${relative(dirname(path), importer) || basename(importer)} imports ${missing}, which does not exist. Check the path; it needs the extension, such as ./tools.ts.`;
}

function typeScriptHint(error: Error): string {
  return (error as NodeJS.ErrnoException).code === "ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX"
    ? ". Node only removes types: write it without enums, namespaces and parameter properties, or compile it first."
    : "";
}
