// Behind `npm run build`: checks the types and compiles, then bundles the library. Arguments are projects for `tsc -b`,
// where not all are needed. docs/decisions/0025 says why the library is bundled.
import { spawnSync } from "node:child_process";
import { existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { type OutputChunk, rolldown } from "rolldown";

const root = fileURLToPath(new URL("..", import.meta.url));
const library = join(root, "packages/rondo");

/** What is imported from outside: the exports of the package, and the two that its `#http` chooses between. */
const entries = [
  "index",
  "demo/index",
  "testing/index",
  "mcp/index",
  "model/http/http-node",
  "model/http/http-fetch",
];

/**
 * What the entries share: a file of the sources goes into the first that fits. `core` imports neither of the others,
 * and `client` not `agent`. Most of our classes do something when they are defined, which keeps them in the bundle of
 * an app that has the file; so what many apps do not need is a file of its own. What is done for others when a file
 * is loaded (`provideTurns()`, `provideThinking()`) is done in the file of those who need it, so that package.json may
 * say that no file has side effects.
 */
const sharedFiles: Readonly<Record<string, RegExp>> = {
  core: /^(error|json|async|registry|hook|context|tool|turn)\//,
  agent: /^(agent\/(?!check-prompt)|client\/thinking-agent)/,
  client: /^(agent|client|loop|model\/(?!http\/http-))/,
};

const tsc = join(root, "node_modules/@typescript/native/bin/tsc");
const { status } = spawnSync(process.execPath, [tsc, "-b", ...process.argv.slice(2)], {
  cwd: root,
  stdio: "inherit",
});
if (status === 0) writeLibrary(await bundleLibrary());
else process.exitCode = 1;

async function bundleLibrary(): Promise<readonly OutputChunk[]> {
  const bundle = await rolldown({
    cwd: library,
    input: Object.fromEntries(entries.map((entry) => [entry, `./src/${entry}.ts`])),
    platform: "neutral",
    // Dependencies stay what they are, and `#http` is chosen where the program runs.
    external: (id, _importer, isResolved) => !isResolved && !id.startsWith("."),
    preserveEntrySignatures: "allow-extension",
  });
  const { output } = await bundle.generate({
    format: "esm",
    entryFileNames: "[name].js",
    chunkFileNames: "[name].js",
    minifyInternalExports: false,
    codeSplitting: {
      includeDependenciesRecursively: false,
      groups: Object.entries(sharedFiles).map(([name, files]) => ({
        name,
        test: (id) => files.test(relative(join(library, "src"), id).replaceAll("\\", "/")),
      })),
    },
  });
  await bundle.close();
  return output.map((file) => {
    // A file that is found by chance could split what must stay together, see above.
    if (file.type === "chunk" && (file.isEntry || file.name in sharedFiles)) return file;
    throw new Error(
      `The library's bundle has a file that is not planned in scripts/build.ts: ${file.fileName}`,
    );
  });
}

/** Leaves files alone that are as they should be: another process may be reading them. */
function writeLibrary(files: readonly OutputChunk[]): void {
  const dist = join(library, "dist");
  const paths = new Set(files.map(({ fileName }) => join(dist, fileName)));
  for (const file of globSync("**/*.js", { cwd: dist }))
    if (!paths.has(join(dist, file))) rmSync(join(dist, file));
  for (const { fileName, code } of files) {
    const path = join(dist, fileName);
    if (existsSync(path) && readFileSync(path, "utf8") === code) continue;
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, code);
  }
}
