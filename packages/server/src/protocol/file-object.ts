// Files that clients upload, as `/v1/files` shows them, and the names that they may have.

import { z } from "zod";
import { invalidRequest } from "./api-error.ts";
import { parseField } from "./field-error.ts";

export const fileSchema = z.object({
  id: z.string(),
  object: z.literal("file"),
  bytes: z.int(),
  created_at: z.int(),
  expires_at: z.int().exactOptional(),
  filename: z.string(),
  purpose: z.string(),
  status: z.literal("processed"),
});

export type FileObject = z.infer<typeof fileSchema>;

/** The form of an upload. */
export const fileFormSchema = z.object({
  file: z.string().meta({ format: "binary" }),
  purpose: z.string().describe("What it is for, such as `user_data`. Kept, and without effect here."),
  expires_after: z
    .object({ anchor: z.literal("created_at"), seconds: z.int().min(3600).max(2_592_000) })
    .exactOptional(),
});

export const fileListQuerySchema = z.object({
  limit: z.int().min(1).max(10_000).default(10_000).describe("How many to give."),
  order: z.enum(["asc", "desc"]).default("desc").describe("By the time of creation."),
  after: z.string().exactOptional().describe("The id after which the page begins."),
  purpose: z.string().exactOptional().describe("Only files of this purpose."),
});

export type FileListQuery = z.infer<typeof fileListQuerySchema>;

const fields = fileFormSchema.omit({ file: true }).extend({ purpose: z.string().regex(/^[\w.-]{1,64}$/) });

/** The fields beside the file: what it is for, and how long it is kept. Throws a 400. */
export function parseFileFields(form: ReadonlyMap<string, string>): {
  purpose: string;
  lifeMs: number | undefined;
} {
  const purpose = form.get("purpose");
  if (purpose === undefined)
    throw invalidRequest("purpose", "purpose: expected what the file is for, got nothing. Send user_data.");
  const anchor = form.get("expires_after[anchor]");
  const seconds = form.get("expires_after[seconds]");
  const hasEnd = anchor !== undefined || seconds !== undefined;
  const given = parseField(fields, {
    purpose,
    ...(hasEnd && { expires_after: { anchor: anchor ?? "created_at", seconds: Number(seconds) } }),
  });
  return { purpose: given.purpose, lifeMs: given.expires_after && given.expires_after.seconds * 1000 };
}

const maxNameBytes = 200;

/**
 * The last part of a path, without characters that a file system or a terminal could take for something else: what
 * clients name is data, and never a path.
 */
export function plainFilename(name: string): string {
  const last = name.split(/[/\\]/).at(-1) ?? "";
  const safe = last.toWellFormed().replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\ufffd]/gu, "_");
  // A character that the limit cuts in two goes.
  const plain = Buffer.from(safe)
    .subarray(0, maxNameBytes)
    .toString("utf8")
    .replace(/\ufffd+$/, "")
    .trim();
  return plain === "" || plain === "." || plain === ".." ? "file" : plain;
}
