// Tells the kind of a function without calling it.

export type FunctionKind = "async" | "async generator" | "generator" | "plain";

const kinds: ReadonlyMap<unknown, FunctionKind> = new Map([
  ["AsyncFunction", "async"],
  ["AsyncGeneratorFunction", "async generator"],
  ["GeneratorFunction", "generator"],
]);

/** The kind of a function, or `undefined` for anything else. The tag is the same in all realms. */
export function functionKind(value: unknown): FunctionKind | undefined {
  if (typeof value !== "function") return undefined;
  return kinds.get((value as { [Symbol.toStringTag]?: unknown })[Symbol.toStringTag]) ?? "plain";
}
