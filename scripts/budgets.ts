// The size limits of the packages. The figures are stable, so `npm run check` enforces them; `npm run bench` measures
// what depends on the machine. Raising a budget is a decision, not an accident.

export interface Budget {
  /** Installed size on disk, including dependencies. */
  readonly installedBytes: number;
  readonly packages: number;
  /** Files that its import loads, including dependencies. */
  readonly modules: number;
  /** Node built-ins that its import loads, beyond those of any program. */
  readonly builtins: number;
  /** All exports of its root, in one minified file for a browser. Undefined if it does not run there. */
  readonly bundleBytes?: number;
  /** The same for an app that uses only `tool()`, after tree-shaking. */
  readonly toolBundleBytes?: number;
}

export const budgets: Readonly<Record<string, Budget>> = {
  rondo: {
    // With the source maps. The sandbox is 0.8 MB of it, OpenTelemetry 0.1 MB: only their own entries load that. HTTP on
    // sockets is 0.05 MB.
    installedBytes: 4_000_000,
    packages: 2,
    modules: 8,
    builtins: 0,
    // What is kept of tools and conversations, so that they are not written again, is 2 KB of it; telling events in place
    // of yielding them is 1 KB.
    bundleBytes: 304_000,
    toolBundleBytes: 78_000,
  },
  // Half of the packages are pg, pg-boss and theirs; only a store in PostgreSQL loads them.
  "@rondo/server": { installedBytes: 46_300_000, packages: 47, modules: 330, builtins: 125 },
};

export function budgetOf(name: string): Budget {
  const budget = budgets[name];
  if (!budget) throw new Error(`There is no budget for ${name}: add one in scripts/budgets.ts.`);
  return budget;
}
