// `npm ci` must work on every platform, although the lockfile was written on one. npm omits a platform's
// package from the lockfile if the registry does not have it yet, and `npm ci` then fails there with
// "Missing: … from lock file". The fix is to pin a version for which all of them exist.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { repoRoot } from "./support/repo.ts";

interface LockedPackage {
  version?: string;
  resolved?: string;
  dependencies?: Record<string, string>;
  devDependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
}

const lockfile = JSON.parse(readFileSync(join(repoRoot, "package-lock.json"), "utf8"));
const locked: Record<string, LockedPackage> = lockfile.packages;

test("the packages of all platforms are locked", () => {
  const missing = Object.entries(locked).flatMap(([path, { optionalDependencies = {} }]) =>
    Object.keys(optionalDependencies)
      .filter((name) => !(`node_modules/${name}` in locked) && !(`${path}/node_modules/${name}` in locked))
      .map((name) => `${path} needs ${name}`),
  );
  expect(missing).toEqual([]);
});

test("no package is tied to its registry", () => {
  const tied = Object.values(locked).filter(({ resolved }) => resolved?.includes("://"));
  expect(tied).toEqual([]);
});

const published = ["packages/rondo", "packages/server"];
const workspaces = Object.entries(locked).filter(([path]) => !path.includes("node_modules/"));

test("all versions that only the repository uses are exact", () => {
  const ranges = workspaces.flatMap(([path, { dependencies, devDependencies, optionalDependencies }]) =>
    Object.entries({
      ...(!published.includes(path) && dependencies),
      ...devDependencies,
      ...optionalDependencies,
    })
      // "*" is a dependency on another workspace.
      .filter(([, version]) => version !== "*" && !/^(npm:.+@)?\d+\.\d+\.\d+(-[\w.]+)?$/.test(version))
      .map(([name, version]) => `${path || "the root"} wants ${name} ${version}`),
  );
  expect(ranges).toEqual([]);
});

// An exact version would keep users from getting fixes, and a project would have two copies of one package.
test("the published packages take every compatible version of their dependencies", () => {
  for (const path of published) {
    // pg-boss is exact: it brings a schema of its own, and all nodes of a database must agree on it.
    const { "pg-boss": _, ...dependencies } = locked[path]?.dependencies ?? {};
    const versions = Object.entries(dependencies);
    expect(versions).not.toEqual([]);
    expect(versions.filter(([, version]) => !/^\^\d+\.\d+\.\d+$/.test(version))).toEqual([]);
  }
});
