// Containers and their files, as `/v1/containers` shows them, and what clients say to make one.

import { z } from "zod";
import { invalidRequest } from "./api-error.ts";
import { parseField } from "./field-error.ts";

const memoryLimits = ["1g", "4g", "16g", "64g"] as const;

const networkPolicy = z.discriminatedUnion("type", [
  z.looseObject({ type: z.literal("disabled") }),
  z.looseObject({
    type: z.literal("allowlist"),
    allowed_domains: z.array(z.string().min(1).max(253)).max(100),
    domain_secrets: z.array(z.looseObject({})).nullish(),
  }),
]);

/** Of a container that is made by a request or by `POST /v1/containers`. */
const containerFields = {
  file_ids: z.array(z.string().max(200)).max(50).nullish().describe("Files of `/v1/files` to copy."),
  memory_limit: z
    .enum(memoryLimits)
    .nullish()
    .describe("Kept, and without effect above the server's own limit."),
  network_policy: networkPolicy.nullish().describe("At most what the server's config allows."),
  skills: z.array(z.unknown()).nullish(),
};

const autoContainer = z.looseObject(containerFields);

export const createContainerSchema = z.looseObject({
  name: z.string().min(1).max(256),
  expires_after: z
    .looseObject({ anchor: z.literal("last_active_at"), minutes: z.int().min(1).max(1_000_000) })
    .nullish(),
  ...containerFields,
});

export const containerSchema = z.object({
  id: z.string(),
  object: z.literal("container"),
  created_at: z.int(),
  last_active_at: z.int(),
  status: z.string(),
  name: z.string(),
  expires_after: z.object({ anchor: z.literal("last_active_at"), minutes: z.number() }),
  memory_limit: z.string().exactOptional(),
  network_policy: z.object({
    type: z.enum(["disabled", "allowlist"]),
    allowed_domains: z.array(z.string()).exactOptional(),
  }),
});

export const containerFileSchema = z.object({
  id: z.string(),
  object: z.literal("container.file"),
  container_id: z.string(),
  created_at: z.int(),
  bytes: z.int(),
  path: z.string(),
  source: z.enum(["user", "assistant"]),
});

/** A file of `/v1/files` to copy into a container. */
export const copyFileSchema = z.looseObject({ file_id: z.string().min(1).max(200) });

/** The form of an upload into a container. */
export const containerFileFormSchema = z.object({ file: z.string().meta({ format: "binary" }) });

export const containerListQuerySchema = z.object({
  limit: z.int().min(1).max(100).default(20).describe("How many to give."),
  order: z.enum(["asc", "desc"]).default("desc").describe("By the time of creation."),
  after: z.string().exactOptional().describe("The id after which the page begins."),
  name: z.string().exactOptional().describe("Only containers of this name."),
});

export type ContainerObject = z.infer<typeof containerSchema>;
export type ContainerFileObject = z.infer<typeof containerFileSchema>;
export type ContainerListQuery = z.infer<typeof containerListQuerySchema>;

export interface ContainerFields {
  readonly fileIds: readonly string[];
  readonly memoryLimit: string | null;
  readonly allow: readonly string[] | undefined;
}

/** How a container is to be made. `at`: where the fields stand in the request. Throws a 400. */
export function parseContainerFields(given: unknown, at: string): ContainerFields {
  const path = [...at.matchAll(/\w+/g)].map(([part]) => (/^\d+$/.test(part) ? Number(part) : part));
  const body = path.reduceRight<unknown>((inner, key) => ({ [key]: inner }), given);
  return toFields(parseField(autoContainer, given, body, path), at);
}

export function parseCreateContainer(
  body: unknown,
): ContainerFields & { name: string; idleMs: number | undefined } {
  const given = parseField(createContainerSchema, body);
  const { name, expires_after: expiry } = given;
  return { ...toFields(given, ""), name, idleMs: expiry ? expiry.minutes * 60_000 : undefined };
}

export function parseCopyFile(body: unknown): string {
  return parseField(copyFileSchema, body).file_id;
}

function toFields(given: z.infer<typeof autoContainer>, at: string): ContainerFields {
  const { file_ids: fileIds, memory_limit: memoryLimit, network_policy: policy, skills } = given;
  const field = (name: string) => (at === "" ? name : `${at}.${name}`);
  if (skills && skills.length > 0)
    throw invalidRequest(
      field("skills"),
      `${field("skills")}: expected none, got ${skills.length}. This server has no skills: upload the files, and pass their ids as file_ids.`,
      "unsupported_skills",
    );
  if (policy?.type === "allowlist" && (policy.domain_secrets ?? []).length > 0)
    throw invalidRequest(
      field("network_policy.domain_secrets"),
      `${field("network_policy.domain_secrets")}: expected none. This server adds no secrets to the requests of a container.`,
      "unsupported_domain_secrets",
    );
  return {
    fileIds: [...new Set(fileIds ?? [])],
    memoryLimit: memoryLimit ?? null,
    allow: policy ? (policy.type === "allowlist" ? policy.allowed_domains : []) : undefined,
  };
}

/** A memory limit in bytes. */
export function memoryBytes(limit: string | null): number | undefined {
  return limit === null ? undefined : Number.parseInt(limit, 10) * 1024 ** 3;
}
