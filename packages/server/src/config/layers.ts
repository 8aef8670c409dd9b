// Puts the sources of a configuration on top of each other: the strongest wins, and is remembered.

import type { SourceOf } from "./check-config.ts";
import { type ConfigPath, keyOf } from "./config-path.ts";

/** One value of a stronger source than the file. */
export interface Override {
  readonly path: ConfigPath;
  readonly value: unknown;
  readonly source: string;
}

/** What is wrong with one value. */
export interface Fault {
  readonly path: ConfigPath;
  readonly message: string;
}

export interface Layered {
  readonly values: unknown;
  readonly sourceOf: SourceOf;
}

/** Lays `overrides` over the values of a file, the later over the earlier. Changes neither. */
export function layer(file: Layered, overrides: readonly Override[]): Layered {
  const sources = new Map<string, string>();
  let { values } = file;
  for (const { path, value, source } of overrides) {
    values = withValue(values, path, value);
    sources.set(keyOf(path), source);
  }
  return {
    values,
    sourceOf: (path) => {
      for (let length = path.length; length > 0; length -= 1) {
        const source = sources.get(keyOf(path.slice(0, length)));
        if (source !== undefined) return source;
      }
      return file.sourceOf(path);
    },
  };
}

/** A copy with another value in one place. */
export function withValue(values: unknown, [part, ...rest]: ConfigPath, value: unknown): unknown {
  if (part === undefined) return value;
  const old = values ?? (typeof part === "number" ? [] : {});
  // Something else where a group belongs stays as it is, and is complained about.
  if (typeof old !== "object") return old;
  const child = withValue((old as Record<string | number, unknown>)[part], rest, value);
  return Array.isArray(old) ? old.with(Number(part), child) : { ...old, [part]: child };
}
