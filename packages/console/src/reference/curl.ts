// A command for an operation, to paste into a terminal.

import { fieldsOf, propertiesOf, resolveRef, variantsOf } from "../ui/json-schema.ts";
import type { Operation } from "./operations.ts";

export interface CurlOptions {
  /** Where the server is, without a slash at the end. */
  readonly url: string;
  /** Whether the server wants a key. It is never written out. */
  readonly hasKey: boolean;
  /** The document that schemas refer to. */
  readonly document: unknown;
  /** Stands in bodies where a model is named. */
  readonly model: string;
}

export function curlOf(operation: Operation, { url, hasKey, document, model }: CurlOptions): string {
  const { method, path, parameters, body, isPublic } = operation;
  const query = parameters
    .filter(({ place, isRequired }) => place === "query" && isRequired)
    .map(({ name }) => `${encodeURIComponent(name)}=`)
    .join("&");
  // Braces stay: they show what to fill in.
  const lines = [
    `curl ${method === "GET" ? "" : `-X ${method} `}${quote(`${url}${path}${query && `?${query}`}`)}`,
  ];
  if (hasKey && !isPublic) lines.push('-H "authorization: Bearer $RONDO_API_KEY"');
  const json = body.find(({ type }) => type === "application/json");
  if (json) {
    const example = exampleOf(json.schema, document, model, 0);
    lines.push("-H 'content-type: application/json'", `-d ${quote(JSON.stringify(example))}`);
  } else if (body.some(({ type }) => type === "multipart/form-data")) lines.push("-F 'file=@FILE'");
  return lines.join(" \\\n  ");
}

/** One argument of a shell, whatever is in it. */
export function quote(text: string): string {
  return /^[\w./:=@{}-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

const depthLimit = 6;

/** A small value that fits: the required fields, each with the simplest value. */
function exampleOf(schema: unknown, root: unknown, model: string, depth: number): unknown {
  const resolved = resolveRef(schema, root);
  const fields = fieldsOf(resolved);
  if (!fields || depth > depthLimit) return {};
  if ("const" in fields) return fields["const"];
  if ("default" in fields) return fields["default"];
  if (Array.isArray(fields["enum"])) return fields["enum"][0];
  const [first] = variantsOf(resolved);
  if (first !== undefined) return exampleOf(first, root, model, depth + 1);
  switch (fields["type"]) {
    case "string":
      return "…";
    case "integer":
    case "number":
      return fields["minimum"] ?? 1;
    case "boolean":
      return true;
    case "array":
      return [];
    default: {
      const all = propertiesOf(resolved);
      // Requests for a model need an input too, though it may come from elsewhere.
      const wanted = all.filter(({ name, isRequired }) => isRequired || name === "model" || name === "input");
      return Object.fromEntries(
        wanted.map(({ name, schema: each }) => [
          name,
          texts(model)[name] ?? exampleOf(each, root, model, depth + 1),
        ]),
      );
    }
  }
}

function texts(model: string): Readonly<Record<string, unknown>> {
  return {
    model,
    input: "Hello!",
    prompt: "Hello!",
    messages: [{ role: "user", content: "Hello!" }],
    arguments: {},
  };
}
