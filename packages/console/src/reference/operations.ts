// The operations of an OpenAPI document, as the page shows them. It is the server's own, but read with care all the
// same: a proxy may have changed it.

import { fieldsOf } from "../ui/json-schema.ts";

export interface Content {
  readonly type: string;
  readonly schema: unknown;
}

export interface Parameter {
  readonly name: string;
  readonly place: string;
  readonly isRequired: boolean;
  readonly description: string | undefined;
  readonly schema: unknown;
}

export interface Reply {
  readonly status: string;
  readonly description: string;
  readonly contents: readonly Content[];
}

export interface Operation {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly summary: string;
  readonly group: string;
  /** Whether it works without a key. */
  readonly isPublic: boolean;
  readonly parameters: readonly Parameter[];
  readonly body: readonly Content[];
  readonly replies: readonly Reply[];
}

const methods = ["get", "post", "put", "patch", "delete"];

// By the part of the path after /v1/. Everything else is named after it.
const groupNames: Readonly<Record<string, string>> = {
  chat: "Models",
  completions: "Models",
  embeddings: "Models",
  models: "Models",
  runs: "Responses",
};

export function operationsOf(document: unknown): Operation[] {
  return Object.entries(fieldsOf(fieldsOf(document)?.["paths"]) ?? {}).flatMap(([path, value]) => {
    const item = fieldsOf(value) ?? {};
    return methods.flatMap((method) => {
      const operation = fieldsOf(item[method]);
      return operation ? [operationOf(method, path, item, operation)] : [];
    });
  });
}

/** The groups in the order of their first operation. */
export function groupOperations(operations: readonly Operation[]): [group: string, Operation[]][] {
  const groups = new Map<string, Operation[]>();
  for (const operation of operations)
    groups.set(operation.group, [...(groups.get(operation.group) ?? []), operation]);
  return [...groups];
}

export function fitsSearch({ method, path, summary, id }: Operation, text: string): boolean {
  const all = `${method} ${path} ${summary} ${id}`.toLowerCase();
  return text
    .toLowerCase()
    .split(/\s+/)
    .every((word) => all.includes(word));
}

function operationOf(
  method: string,
  path: string,
  item: Readonly<Record<string, unknown>>,
  operation: Readonly<Record<string, unknown>>,
): Operation {
  const { operationId, summary, security } = operation;
  return {
    id: typeof operationId === "string" ? operationId : `${method} ${path}`,
    method: method.toUpperCase(),
    path,
    summary: typeof summary === "string" ? summary : "",
    group: groupOf(path),
    isPublic: Array.isArray(security) && security.length === 0,
    parameters: [...listOf(item["parameters"]), ...listOf(operation["parameters"])].map(parameterOf),
    body: contentsOf(fieldsOf(operation["requestBody"])?.["content"]),
    replies: Object.entries(fieldsOf(operation["responses"]) ?? {}).map(([status, reply]) => ({
      status,
      description: textOf(fieldsOf(reply)?.["description"]) ?? "",
      contents: contentsOf(fieldsOf(reply)?.["content"]),
    })),
  };
}

function groupOf(path: string): string {
  const [, version, name = ""] = path.split("/");
  if (version !== "v1") return "Server";
  return groupNames[name] ?? name.slice(0, 1).toUpperCase() + name.slice(1);
}

function parameterOf(value: unknown): Parameter {
  const fields = fieldsOf(value) ?? {};
  return {
    name: textOf(fields["name"]) ?? "",
    place: textOf(fields["in"]) ?? "",
    isRequired: fields["required"] === true,
    description: textOf(fields["description"]),
    schema: fields["schema"],
  };
}

function contentsOf(value: unknown): Content[] {
  return Object.entries(fieldsOf(value) ?? {}).map(([type, content]) => ({
    type,
    schema: fieldsOf(content)?.["schema"],
  }));
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}
