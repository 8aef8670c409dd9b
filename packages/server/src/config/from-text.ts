// Text of the environment or a flag, as the value that it stands for.

import { type ConfigPath, definitionOf, inner, schemaAt } from "./config-path.ts";

/** The value that the place wants. Text that cannot be one is left as it is, for the schema to complain about. */
export function valueFromText(text: string, path: ConfigPath): unknown {
  const schema = schemaAt(path);
  if (schema === undefined) return text;
  const def = definitionOf(inner(schema));
  if (def.type === "number") return /^[+-]?(\d+\.?\d*|\.\d+)$/.test(text.trim()) ? Number(text) : text;
  if (def.type === "boolean") return { true: true, "1": true, false: false, "0": false }[text.trim()] ?? text;
  if (def.type === "array")
    return text
      .split(",")
      .map((part) => part.trim())
      .filter((part) => part !== "");
  return text;
}
