// Tells what kind of function a value is, without calling it.

export type FunctionKind = "async" | "async generator" | "generator" | "plain";

const prototypes = new Map<unknown, FunctionKind>([
  [Object.getPrototypeOf(async () => {}), "async"],
  [Object.getPrototypeOf(async function* () {}), "async generator"],
  [Object.getPrototypeOf(function* () {}), "generator"],
]);

/** The kind of a function, or `undefined` for anything else. Functions of another realm go by their tag. */
export function functionKind(value: unknown): FunctionKind | undefined {
  if (typeof value !== "function") return undefined;
  const known = prototypes.get(Object.getPrototypeOf(value));
  if (known) return known;
  switch ((value as { [Symbol.toStringTag]?: unknown })[Symbol.toStringTag]) {
    case "AsyncFunction":
      return "async";
    case "AsyncGeneratorFunction":
      return "async generator";
    case "GeneratorFunction":
      return "generator";
    default:
      return "plain";
  }
}
