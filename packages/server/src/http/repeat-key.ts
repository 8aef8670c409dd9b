// The Idempotency-Key of a request: with the same key and the same body it is the same request.

import { createHash } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { invalidRequest } from "../protocol/api-error.ts";
import type { RepeatKey } from "../run/repeat.ts";

const mostChars = 255;

/** The key, if there is one. Throws a 400 for one that is not a key. */
export function repeatKeyOf({ headers }: IncomingMessage, body: string): RepeatKey | undefined {
  const key = headers["idempotency-key"];
  if (key === undefined) return undefined;
  // Node joins a header that came twice: then it has a comma and a space in it.
  if (typeof key !== "string" || key.length === 0 || key.length > mostChars || !/^[\x21-\x7e]+$/.test(key)) {
    const received = typeof key === "string" ? `${key.length} characters` : "several";
    throw invalidRequest(
      null,
      `The header Idempotency-Key must be 1 to ${mostChars} visible ASCII characters without spaces, such as a UUID, and come once; got ${received}.`,
      "invalid_idempotency_key",
    );
  }
  return { key, fingerprint: createHash("sha256").update(body).digest("base64url") };
}
