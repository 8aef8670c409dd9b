// Part of `npm run check`: the packed packages in a project outside the repository. Their types must hold under each
// kind of module resolution, and all entries must load, by `import` and by `require`.
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

interface Manifest {
  readonly name: string;
  readonly exports: Readonly<Record<string, unknown>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

const root = fileURLToPath(new URL("..", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "rondo-outside-"));
const modules = join(folder, "node_modules");

try {
  const manifests = process.argv.slice(2).map(unpack);
  const own = new Set(manifests.map(({ name }) => name));
  const needed = manifests.flatMap((it) => Object.keys({ ...it.dependencies, ...it.peerDependencies }));
  for (const name of new Set([...needed, "@types/node"])) if (!own.has(name)) link(name);
  const entries = manifests.flatMap(({ name, exports }) =>
    Object.keys(exports).map((path) => name + path.slice(1)),
  );

  write("package.json", '{ "type": "module" }');
  write("main.ts", program(entries));
  write(
    "old.ts",
    'import { tool } from "rondo";\nexport const add = tool("add", "Add.", { a: Number }, ({ a }) => a + 1);\n',
  );
  const native = join(root, "node_modules/@typescript/native/bin/tsc");
  compile(native, "main.ts", { module: "nodenext", moduleResolution: "nodenext" });
  compile(native, "main.ts", { module: "esnext", moduleResolution: "bundler" });
  // Older tools know only `main` and `types`. TypeScript 7 is not among them.
  const older = { module: "esnext", moduleResolution: "node10", ignoreDeprecations: "6.0" };
  compile(join(root, "node_modules/typescript/lib/tsc.js"), "old.ts", older);

  // The suite of tests for stores loads only inside a test runner.
  const loaded = entries.filter((entry) => !entry.endsWith("-suite"));
  write("load.mjs", loaded.map((entry) => `await import(${JSON.stringify(entry)});`).join("\n"));
  write("load.cjs", loaded.map((entry) => `require(${JSON.stringify(entry)});`).join("\n"));
  for (const file of ["load.mjs", "load.cjs"])
    execFileSync(process.execPath, [file], { cwd: folder, stdio: "inherit" });
} finally {
  rmSync(folder, { recursive: true });
}

function unpack(tarball: string): Manifest {
  const target = mkdtempSync(join(folder, "unpacked-"));
  execFileSync("tar", ["-xzf", tarball, "-C", target, "--strip-components=1"]);
  const manifest = JSON.parse(readFileSync(join(target, "package.json"), "utf8")) as Manifest;
  mkdirSync(dirname(join(modules, manifest.name)), { recursive: true });
  execFileSync("mv", [target, join(modules, manifest.name)]);
  return manifest;
}

function link(name: string): void {
  mkdirSync(dirname(join(modules, name)), { recursive: true });
  const nested = join(root, "packages/server/node_modules", name);
  const source = name === "commander" ? nested : join(root, "node_modules", name);
  symlinkSync(source, join(modules, name));
}

function write(name: string, text: string): void {
  writeFileSync(join(folder, name), text);
}

/** Imports every entry, and relies on types that are inferred across the packages. */
function program(entries: readonly string[]): string {
  const imports = entries.map((entry, index) => `import * as entry${index} from ${JSON.stringify(entry)};`);
  return `import { defineConfig } from "@rondo/server";
import { Turn, tool } from "rondo";
${imports.join("\n")}

const add = tool("add", "Add.", { a: Number, b: Number }, ({ a, b }) => a.toFixed(b));
export const turn = new Turn(add, { a: 1, b: 2 });
// @ts-expect-error -- the input is typed
void new Turn(add, { a: "1", b: 2 });
export default defineConfig({ tools: [add] });
export const entries = [${entries.map((_, index) => `entry${index}`).join(", ")}];
`;
}

function compile(tsc: string, file: string, options: Readonly<Record<string, string>>): void {
  const compilerOptions = { target: "esnext", strict: true, noEmit: true, types: ["node"], ...options };
  write("tsconfig.json", JSON.stringify({ compilerOptions, files: [file] }));
  try {
    execFileSync(process.execPath, [tsc, "--pretty", "false"], { cwd: folder, encoding: "utf8" });
  } catch (error) {
    const { stdout = "" } = error as { stdout?: string };
    throw new Error(`With ${options["moduleResolution"]} the types do not hold:\n${stdout}`, {
      cause: error,
    });
  }
}
