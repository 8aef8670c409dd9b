// Paths into values, as people write them.

/** Writes a path as in code: `stops[2].name`. */
export function pathOf(steps: readonly PropertyKey[]): string {
  return steps.reduce<string>((path, step) => {
    const name = String(step);
    if (/^\d+$/.test(name)) return `${path}[${name}]`;
    return path === "" ? name : `${path}.${name}`;
  }, "");
}
