// Reads a configuration in YAML with the line of each key.

import { type Document, isAlias, isMap, isNode, isScalar, isSeq, LineCounter, parseDocument } from "yaml";
import { ConfigError, type ConfigProblem } from "./config-error.ts";
import type { ConfigFile } from "./config-file.ts";
import type { ConfigPath } from "./config-path.ts";

/** The values of YAML text. Throws a `ConfigError` with the lines of all syntax errors. `name` is for messages. */
export function readYaml(text: string, name: string): Pick<ConfigFile, "values" | "sourceOf"> {
  const lines = new LineCounter();
  const language = name.endsWith(".json") ? "JSON" : "YAML";
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const lineOf = (offset: number) => `${name} line ${lines.linePos(offset).line}`;
  const problems: ConfigProblem[] = document.errors.map(({ pos: [offset], message }) => ({
    key: "",
    source: lineOf(offset),
    message: `is not valid ${language}: ${message}${/[.!?]$/.test(message) ? "" : "."}`,
  }));
  if (problems.length > 0) throw new ConfigError(problems);
  return {
    values: valuesOf(document, name) ?? {},
    sourceOf: (path) => {
      const offset = offsetOf(document, path);
      return offset === undefined ? name : lineOf(offset);
    },
  };
}

function valuesOf(document: Document.Parsed, name: string): unknown {
  try {
    return document.toJS();
  } catch (error) {
    // An alias without an anchor, or aliases that expand without bound.
    const message = `is not valid YAML: ${error instanceof Error ? error.message : String(error)}.`;
    throw new ConfigError([{ key: "", source: name, message }], { cause: error });
  }
}

/** Where the deepest part of the path that is in the document starts. */
function offsetOf(document: Document.Parsed, path: ConfigPath): number | undefined {
  let node: unknown = document.contents;
  let offset: number | undefined;
  for (const part of path) {
    if (isAlias(node)) node = node.resolve(document);
    let start: unknown;
    if (isMap(node)) {
      const pair = node.items.find(({ key }) => isScalar(key) && String(key.value) === String(part));
      [start, node] = [pair?.key, pair?.value];
    } else if (isSeq(node)) {
      node = node.items[Number(part)];
      start = node;
    } else break;
    if (!isNode(start)) break;
    offset = start.range?.[0] ?? offset;
  }
  return offset;
}
