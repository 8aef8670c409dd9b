// What the packages may cost those who use them. The figures are stable, so `npm run check` holds them; what depends
// on the machine is measured by `npm run bench`. A budget that does not fit any more is a decision, not an accident.

export interface Budget {
  /** Files and packages on the disk after installing it, dependencies included. */
  readonly installedBytes: number;
  readonly packages: number;
  /** Files that its import loads, dependencies included. */
  readonly modules: number;
  /** Modules of Node that are loaded by its import, beyond those that any program has. */
  readonly builtins: number;
  /** All that its root exports, in one minified file for a browser. Undefined where there is no such use. */
  readonly bundleBytes?: number;
  /** The same for an app that uses nothing but `tool()`: what is not used is left out. */
  readonly toolBundleBytes?: number;
}

export const budgets: Readonly<Record<string, Budget>> = {
  rondo: {
    installedBytes: 2_600_000,
    packages: 2,
    modules: 24,
    builtins: 4,
    bundleBytes: 224_500,
    toolBundleBytes: 78_000,
  },
  "@rondo/server": { installedBytes: 40_000_000, packages: 40, modules: 330, builtins: 125 },
};

export function budgetOf(name: string): Budget {
  const budget = budgets[name];
  if (!budget) throw new Error(`There is no budget for ${name}: add one in scripts/budgets.ts.`);
  return budget;
}
