// Reports the installed size of a package, including all its dependencies, and fails if it exceeds the budget.
import { execFileSync } from "node:child_process";
import { globSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { budgetOf } from "./budgets.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const [folder = "", tarball = ""] = process.argv.slice(2);
const { name } = manifestOf(join(root, folder));
const budget = budgetOf(name);

const unpacked = mkdtempSync(join(tmpdir(), "rondo-size-"));
try {
  execFileSync("tar", ["-xzf", tarball, "-C", unpacked]);
  const packages = [join(unpacked, "package"), ...dependenciesOf(join(root, folder))];
  const bytes = packages.map(bytesIn).reduce((sum, size) => sum + size, 0);
  console.log(
    `${name}: ${bytes} bytes in ${packages.length} packages, of ${budget.installedBytes} in ${budget.packages}`,
  );
  if (bytes > budget.installedBytes || packages.length > budget.packages) process.exitCode = 1;
} finally {
  rmSync(unpacked, { recursive: true });
}

/** The folders of all its dependencies, each once. */
function dependenciesOf(packageFolder: string, found = new Set<string>()): string[] {
  for (const dependency of Object.keys(manifestOf(packageFolder).dependencies ?? {})) {
    const dependencyFolder = join(root, "node_modules", dependency);
    if (found.has(dependencyFolder)) continue;
    found.add(dependencyFolder);
    dependenciesOf(dependencyFolder, found);
  }
  return [...found];
}

function manifestOf(packageFolder: string): { name: string; dependencies?: Record<string, string> } {
  return JSON.parse(readFileSync(join(packageFolder, "package.json"), "utf8"));
}

function bytesIn(packageFolder: string): number {
  const files = globSync("**/*", { cwd: packageFolder, withFileTypes: true }).filter((file) => file.isFile());
  return files.reduce((sum, file) => sum + statSync(join(file.parentPath, file.name)).size, 0);
}
