// Bundles the packages: a few JavaScript files each, with source maps. docs/decisions/0025 says why.
import { existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";

export interface Package {
  readonly folder: string;
  /** Imported or started from outside. */
  readonly entries: readonly string[];
  /** The files that the entries share, by name: a source file goes into the first that matches. Default: any. */
  readonly shared?: Readonly<Record<string, RegExp>>;
  /** The version of the language. Default: as the sources are. */
  readonly target?: string;
}

const root = fileURLToPath(new URL("..", import.meta.url));

const library: Package = {
  folder: join(root, "packages/rondo"),
  target: "es2024", // without `using`, which older Nodes and browsers cannot parse
  // `#http` and `#sessions` each resolve to one of the last four.
  entries: [
    "index",
    "loop",
    "models",
    "budget",
    "errors",
    "sessions",
    "demo/index",
    "testing/index",
    "mcp/index",
    "otel/index",
    "sandbox/index",
    "sandbox/network/private-address",
    "sandbox/testing/sandbox-suite",
    "model/http/http-node",
    "model/http/http-fetch",
    "session/folder/default-store",
    "session/no-default-store",
  ],
  // `core` imports neither of the others, and `client` not `agent`. Most of our classes have side effects when they are
  // defined, which keeps them in the bundle of an app that has the file; so what many apps do not need is a separate
  // file. Top-level calls for other modules (`provideTurns()`, `provideThinking()`) are in the file of the modules that
  // need them, so that package.json can declare no side effects.
  shared: {
    // With what both sides of `#http` may need: they must not import `client`, which imports them.
    core: /^(error|json|async|registry|hook|context|trace|tool|turn|model\/http\/send-by)\b|@oxc-project.runtime/,
    agent: /^(agent\/(?!check-prompt)|client\/thinking-agent)/,
    client: /^(agent|client|loop|model\/(?!http\/(?:http-|node\/))|session\/[^/]+$)/,
    folder: /^session\/folder\//,
    sandbox: /^sandbox\/(?!testing\/|network\/private-address)/,
  },
};

/** What a command imports lazily becomes a separate file. */
const server: Package = {
  folder: join(root, "packages/server"),
  // The last one is the watchdog's thread.
  entries: ["index", "store/testing/store-suite", "cli/main", "run/watchdog/thread"],
};

/** The published packages. */
export const packages: readonly Package[] = [library, server];

interface OutputFile {
  readonly fileName: string;
  readonly content: string;
}

/** Writes the files of a package. Default for `dist`: the folder of that name in the package. */
export async function writeBundle(one: Package, dist = join(one.folder, "dist")): Promise<void> {
  write(dist, await bundle(one));
}

async function bundle({ folder, entries, shared, target }: Package): Promise<OutputFile[]> {
  const build = await rolldown({
    cwd: folder,
    input: Object.fromEntries(entries.map((entry) => [entry, `./src/${entry}.ts`])),
    platform: "neutral",
    // Dependencies stay external, and the runtime resolves `#http`. What the bundler adds for an older target does not:
    // users do not have it.
    external: (id, _importer, isResolved) =>
      !isResolved && !id.startsWith(".") && !id.startsWith("@oxc-project/runtime"),
    preserveEntrySignatures: "allow-extension",
    ...(target !== undefined && { transform: { target } }),
  });
  const { output } = await build.generate({
    dir: join(folder, "dist"), // the maps name their sources from there
    format: "esm",
    sourcemap: true,
    comments: { jsdoc: false }, // they are in the types
    entryFileNames: "[name].js",
    chunkFileNames: "[name].js",
    minifyInternalExports: false,
    codeSplitting: !shared || {
      includeDependenciesRecursively: false,
      groups: Object.entries(shared).map(([name, files]) => ({
        name,
        test: (id) => files.test(relative(join(folder, "src"), id).replaceAll("\\", "/")),
      })),
    },
  });
  await build.close();
  return output.map((file) => {
    if (file.type === "asset")
      return { fileName: file.fileName, content: withoutSources(String(file.source)) };
    if (file.isEntry || !shared || file.name in shared)
      return { fileName: file.fileName, content: inAscii(file.code) };
    throw new Error(`${file.fileName} is not planned: add its sources to the files in scripts/bundle.ts.`);
  });
}

/**
 * Text in literals with escapes, so that all is ASCII: a single other character would let V8 keep and scan the whole file
 * with two bytes for each. Lines stay as they are; the few columns after such a character move in the maps.
 */
function inAscii(code: string): string {
  const lost = /String\.raw`(?:[^`\\]|\\[\s\S])*[^\0-\x7f]|\\[^\0-\x7f]/.exec(code)?.[0];
  if (lost !== undefined)
    throw new Error(
      `Write ${lost.slice(-40)} in ASCII: String.raw reads no escapes, nor are there any after a \\.`,
    );
  return code.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** The package has the sources, so its maps only name them. */
function withoutSources(map: string): string {
  const { sourcesContent: _, ...rest } = JSON.parse(map) as Record<string, unknown>;
  return JSON.stringify(rest);
}

/** Does not touch unchanged files: another process may be reading them. */
function write(dist: string, files: readonly OutputFile[]): void {
  const paths = new Set(files.map(({ fileName }) => join(dist, fileName)));
  for (const file of globSync("**/*.js{,.map}", { cwd: dist }))
    if (!paths.has(join(dist, file))) rmSync(join(dist, file));
  for (const { fileName, content } of files) {
    const path = join(dist, fileName);
    if (existsSync(path) && readFileSync(path, "utf8") === content) continue;
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content);
  }
}
