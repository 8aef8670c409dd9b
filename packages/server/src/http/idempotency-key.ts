// The Idempotency-Key of a request: the same key with the same body is the same request.

import type { IncomingMessage } from "node:http";
import { invalidRequest } from "../protocol/api-error.ts";
import type { RepeatKey } from "../run/repeat.ts";

/** The header's name. */
export const idempotencyKey = "idempotency-key";

const maxLength = 255;

/** The header in the OpenAPI document. */
export const idempotencyKeyHeader = {
  description:
    "Names this request: sent again with the same key and body, it gives the same response and runs nothing.",
  schema: { type: "string", minLength: 1, maxLength },
};

/** The key, if there is one, for a body with this fingerprint. Throws a 400 for an invalid key. */
export function idempotencyKeyOf(
  { headers }: IncomingMessage,
  fingerprint: string | undefined,
): RepeatKey | undefined {
  const key = headers[idempotencyKey];
  if (key === undefined) return undefined;
  // Node joins a header that came twice: then it has a comma and a space in it.
  if (typeof key !== "string" || key.length === 0 || key.length > maxLength || !/^[\x21-\x7e]+$/.test(key)) {
    const received = typeof key === "string" ? `${key.length} characters` : "several";
    throw invalidRequest(
      null,
      `The header Idempotency-Key must be 1 to ${maxLength} visible ASCII characters without spaces, such as a UUID, and come once; got ${received}.`,
      "invalid_idempotency_key",
    );
  }
  if (fingerprint === undefined) throw new Error("A request with an Idempotency-Key has no fingerprint.");
  return { key, fingerprint };
}
