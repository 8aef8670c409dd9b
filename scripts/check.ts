// `npm run check`: all checks besides the tests. All of them run even if one fails, so that one run shows all
// problems. Only dist and caches are written.
import { spawnSync } from "node:child_process";
import { globSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { stripVTControlCharacters } from "node:util";

const root = fileURLToPath(new URL("..", import.meta.url));
const tarballs = mkdtempSync(join(tmpdir(), "rondo-check-"));
const failed: string[] = [];

try {
  step("types and build", "node scripts/build.ts");
  step("lint", "oxlint --type-aware --deny-warnings");
  step("format", "biome check --error-on-warnings", "`npm run format` fixes most of it.");
  step("dead code", "knip --no-progress --no-config-hints");
  step("the library as built", "node scripts/built-library.ts");
  step("generated docs", "node --conditions=rondo-source scripts/docs.ts --check");
  for (const folder of publicPackages()) {
    const before = new Set(packed());
    if (!step(`pack ${folder}`, `npm pack --silent --workspace ${folder} --pack-destination ${tarballs}`))
      continue;
    const tarball = packed().find((file) => !before.has(file));
    step(`publint ${folder}`, `publint run ${tarball} --strict`);
    step(`attw ${folder}`, `attw ${tarball} --profile esm-only --no-definitely-typed --no-color --no-emoji`);
    step(`size ${folder}`, `node scripts/installed-size.ts ${folder} ${tarball}`);
    step(`import ${folder}`, `node scripts/loaded-size.ts ${folder}`);
  }
  step("the packages in an outside project", `node scripts/outside-project.ts ${packed().join(" ")}`);
} finally {
  rmSync(tarballs, { recursive: true });
}

if (failed.length > 0) {
  console.log(`\nCheck failed: ${failed.join(", ")}.`);
  process.exitCode = 1;
} else {
  console.log("\nAll checks passed.");
}

/** Runs one command, shows its output only if it fails, and returns whether it passed. */
function step(name: string, command: string, remedy?: string): boolean {
  const start = performance.now();
  process.stdout.write(`${name} … `);
  // A shell finds the commands on Windows too, where they are .cmd files.
  const { status, stdout, stderr, error } = spawnSync(command, {
    cwd: root,
    env: { ...process.env, PATH: `${join(root, "node_modules/.bin")}${delimiter}${process.env["PATH"]}` },
    encoding: "utf8",
    shell: true,
    stdio: ["ignore", "pipe", "pipe"],
    maxBuffer: Number.POSITIVE_INFINITY,
  });
  const seconds = ((performance.now() - start) / 1000).toFixed(1);
  if (status === 0) {
    console.log(`ok (${seconds} s)`);
    return true;
  }
  console.log(`failed (${seconds} s)`);
  // Some tools colour their output even without a terminal.
  const output = stripVTControlCharacters(`${error?.message ?? ""}${stdout}${stderr}`);
  console.log(`\n$ ${command}\n${output}${remedy ? `\n${remedy}\n` : ""}`);
  failed.push(name);
  return false;
}

function packed(): string[] {
  return globSync(join(tarballs, "*.tgz")).toSorted();
}

/** Folders of the workspaces that are published. */
function publicPackages(): string[] {
  return globSync("packages/*/package.json", { cwd: root })
    .filter((manifest) => !JSON.parse(readFileSync(join(root, manifest), "utf8")).private)
    .map(dirname)
    .toSorted();
}
