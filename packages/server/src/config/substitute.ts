// `${NAME}` in the text of a YAML file is a variable of the environment, so that secrets need not stand there.

import type { ConfigPath } from "./config-path.ts";
import { valueFromText } from "./from-text.ts";
import type { Fault } from "./layers.ts";
import type { Environment } from "./overrides.ts";

export interface Substituted {
  readonly values: unknown;
  /** Variables that are not set, or are no names. */
  readonly faults: readonly Fault[];
}

/** Fills in the variables, at any depth. `$${` stands for a plain `${`. */
export function substitute(values: unknown, env: Environment): Substituted {
  const faults: Fault[] = [];

  const fill = (text: string, path: ConfigPath): unknown => {
    if (!text.includes("${")) return text;
    const filled = text.replace(/\$(\$\{)|\$\{([^}]*)\}?/g, (all, escaped?: string, name = "") => {
      if (escaped !== undefined) return escaped;
      const value = /^[A-Za-z_]\w*$/.test(name) && all.endsWith("}") ? env[name] : undefined;
      if (value === undefined) faults.push({ path, message: messageOn(all, name) });
      return value ?? "";
    });
    // What is nothing but a variable may be a number or a list, as in the environment.
    return /^\$\{\w+\}$/.test(text) ? valueFromText(filled, path) : filled;
  };

  const visit = (value: unknown, path: ConfigPath): unknown => {
    if (typeof value === "string") return fill(value, path);
    if (Array.isArray(value)) return value.map((element, index) => visit(element, [...path, index]));
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([name, child]) => [name, visit(child, [...path, name])]),
    );
  };

  return { values: visit(values, []), faults };
}

function messageOn(all: string, name: string): string {
  return /^[A-Za-z_]\w*$/.test(name) && all.endsWith("}")
    ? `the environment variable ${name}, which it mentions, is not set.`
    : `expected the name of an environment variable, as in \${NAME}, got ${JSON.stringify(all)}; write $\${ for a plain \${.`;
}
