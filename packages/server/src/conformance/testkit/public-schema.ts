// The public schema of the Responses API, made from the declarations of the `openai` package, and what is wrong
// with a value that does not follow it. The known deviations are allowed, nothing else is.

import { createHash, randomUUID } from "node:crypto";
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { type OutputUnit, Validator } from "@cfworker/json-schema";
import { applyDeviations, type Deviation, deviations } from "./deviations.ts";
import { type Schema, schemaOfTypes } from "./schema-of-types.ts";

const root = new URL("../../../../../", import.meta.url);
const declared = {
  "responses/responses.d.ts": ["Response", "ResponseStreamEvent", "ResponseCreateParamsNonStreaming"],
  "responses/input-items.d.ts": ["ResponseItemList"],
  "responses/input-tokens.d.ts": ["InputTokenCountResponse"],
  "conversations/conversations.d.ts": ["Conversation", "ConversationDeletedResource"],
  "conversations/items.d.ts": ["ConversationItem", "ConversationItemList"],
  "chat/completions/completions.d.ts": ["ChatCompletion", "ChatCompletionChunk"],
  "models.d.ts": ["Model"],
  "shared.d.ts": ["ErrorObject"],
};

export type PublicType =
  | "Response"
  | "ResponseStreamEvent"
  | "ResponseItemList"
  | "InputTokenCountResponse"
  | "Conversation"
  | "ConversationDeletedResource"
  | "ConversationItem"
  | "ConversationItemList"
  | "ChatCompletion"
  | "ChatCompletionChunk"
  | "Model"
  | "ErrorObject";

/** The definitions as the `openai` package has them. */
export const publicDefinitions: Readonly<Record<string, Schema>> = loadDefinitions();

/** Made once for each version of the package, then read from a cache. At import, as no test has the time for it. */
function loadDefinitions(): Record<string, Schema> {
  const { version } = JSON.parse(read(new URL("node_modules/openai/package.json", root))) as {
    version: string;
  };
  const makers = read(new URL(import.meta.url)) + read(new URL("schema-of-types.ts", import.meta.url));
  const key = createHash("sha256").update(makers).digest("hex").slice(0, 16);
  const folder = new URL("node_modules/.cache/", root);
  const cache = new URL(`responses-schema-${version}-${key}.json`, folder);
  try {
    return JSON.parse(read(cache)) as Record<string, Schema>;
  } catch {
    // Not made yet, or by a process that was stopped while it wrote: made anew.
  }
  const files = Object.keys(declared).map((file) =>
    fileURLToPath(new URL(`node_modules/openai/resources/${file}`, root)),
  );
  const definitions = schemaOfTypes(files, Object.values(declared).flat());
  mkdirSync(folder, { recursive: true });
  // Test files run side by side: none may read a half-written cache.
  const draft = new URL(`${cache.href}.${randomUUID()}`);
  writeFileSync(draft, JSON.stringify(definitions));
  renameSync(draft, cache);
  return definitions;
}

/** Checks values against the public schema with the deviations of `list`. Default: all of this server's. */
export function schemaChecker(
  list: readonly Deviation[] = deviations,
): (type: PublicType, value: unknown) => string[] {
  const $defs = structuredClone(publicDefinitions);
  applyDeviations($defs, list);
  const validators = new Map<PublicType, Validator>();
  return (type, value) => {
    const validator =
      validators.get(type) ?? new Validator({ $ref: `#/$defs/${type}`, $defs }, "2020-12", false);
    validators.set(type, validator);
    const { errors } = validator.validate(value);
    const flaws = errors
      .filter(isCause)
      .map(({ instanceLocation, error }) => `${instanceLocation}: ${error}`);
    // The members of a union complain alike.
    return [...new Set(flaws)];
  };
}

let checker: ReturnType<typeof schemaChecker> | undefined;

/** What is wrong with `value` as a `type` of the public schema: a line for each flaw, with its place. */
export function flawsOf(type: PublicType, value: unknown): string[] {
  checker ??= schemaChecker();
  return checker(type, value);
}

/** Not that something inside is wrong, but what it is. */
function isCause({ keyword }: OutputUnit): boolean {
  return !["$ref", "properties", "items", "allOf", "if", "then"].includes(keyword);
}

function read(file: URL): string {
  return readFileSync(file, "utf8");
}
