// What a request says about the container of its tool: an id, or how to make one.

import { z } from "zod";
import { invalidRequest } from "../../protocol/api-error.ts";
import { parseContainerFields } from "../../protocol/container-object.ts";
import type { ToolDefinition } from "../../protocol/tools.ts";

/** How a container is made for a request. */
export interface WantedContainer {
  readonly fileIds: readonly string[];
  readonly memoryLimit: string | null;
  /** Default: all that the config allows. */
  readonly allow: readonly string[] | undefined;
}

export type ContainerChoice = { readonly id: string } | { readonly auto: WantedContainer };

const environment = z.looseObject({ type: z.string(), container_id: z.string().nullish() });

/** The container of a `code_interpreter` tool. Throws a 400. */
export function codeContainer({ container }: ToolDefinition, index: number): ContainerChoice {
  const at = `tools[${index}].container`;
  if (typeof container === "string") return { id: container };
  const { type = "auto" } = Object(container ?? {}) as { type?: unknown };
  if (type !== "auto")
    throw invalidRequest(
      at,
      `${at}: expected the id of a container or {"type": "auto"}, got the type ${JSON.stringify(type)}.`,
    );
  return { auto: parseContainerFields(container ?? {}, at) };
}

/** The container of a `shell` tool; undefined if the client runs its commands. Throws a 400. */
export function shellContainer(definition: ToolDefinition, index: number): ContainerChoice | undefined {
  const at = `tools[${index}].environment`;
  const given = environment.safeParse(definition["environment"]).data;
  if (!given || given.type === "local") return undefined;
  if (given.type === "container_auto") return { auto: parseContainerFields(given, at) };
  if (given.type === "container_reference" && given.container_id) return { id: given.container_id };
  throw invalidRequest(
    at,
    `${at}: expected the type local, container_auto, or container_reference with a container_id, got the type ${JSON.stringify(given.type)}.`,
  );
}

/** Whether the commands of a `shell` tool are not the client's to run. */
export function isContainerShell({ type, environment: given }: ToolDefinition): boolean {
  const { type: kind = "local" } = Object(given ?? {}) as { type?: unknown };
  return type === "shell" && kind !== "local";
}
