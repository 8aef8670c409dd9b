// Authenticates requests: the owner of an API key, the subject of a token or, without auth, one owner for all.

import type { AuthConfig } from "../config/auth-schema.ts";
import { localOwner } from "../protocol/addresses.ts";
import { ApiError } from "../protocol/api-error.ts";
import { IssuerUnavailable, TokenRejected } from "./auth-errors.ts";
import { keyFinder } from "./auth-keys.ts";

/** Who sent a request. */
export interface Caller {
  readonly owner: string;
  /** Which of the keys was used, for the audit log: the beginning of its hash, or `jwt` and the token's id. */
  readonly keyId?: string;
  /** When its token expires. Absent for keys. */
  readonly expiresAtMs?: number;
}

/** Identifies the caller. Throws an `ApiError`: 401, or 503 when the issuer of tokens is unavailable. */
export type Authenticate = (headers: Headers | { authorization?: string | undefined }) => Promise<Caller>;

export interface AuthenticatorOptions {
  /** Receives why an issuer is unavailable. Default: ignored. */
  onWarning?: (message: string) => void;
}

// Longer than any sensible key or token: rejected unread.
const maxLength = 16_384;

/** The check of each request. Owners are `key:NAME`, `jwt:ISSUER:SUBJECT`, or `local` without auth. */
export async function authenticator(
  auth: AuthConfig | undefined,
  { onWarning = () => {} }: AuthenticatorOptions = {},
): Promise<Authenticate> {
  if (auth === undefined) return async () => ({ owner: localOwner });
  const findKey = keyFinder(auth.keys ?? []);
  const verifyToken = auth.jwt && (await import("./auth-jwt.ts")).tokenVerifier(auth.jwt);
  return async (headers) => {
    const given = credentialIn(headers);
    if (given.length > maxLength) throw unauthorized("The API key or token is too long.");
    const key = findKey(given);
    if (key !== undefined) return { owner: `key:${key.owner}`, keyId: key.id };
    if (verifyToken === undefined || !looksLikeToken(given)) throw unauthorized("The API key is unknown.");
    try {
      return await verifyToken(given);
    } catch (error) {
      if (error instanceof TokenRejected) throw unauthorized(`The token is rejected. ${error.message}`);
      if (!(error instanceof IssuerUnavailable)) throw error;
      onWarning(error.message);
      throw unavailable(error);
    }
  };
}

/** Not by the class `Headers`: its name alone loads Node's `fetch`. Values of other headers are never functions. */
function hasGetter(headers: Parameters<Authenticate>[0]): headers is Headers {
  return typeof (headers as Partial<Headers>).get === "function";
}

/** The credential after `Bearer`. */
function credentialIn(headers: Parameters<Authenticate>[0]): string {
  const header = hasGetter(headers) ? headers.get("authorization") : headers.authorization;
  const how = "Send `Authorization: Bearer KEY`; clients of the API do so with the option `apiKey`.";
  if (!header) throw unauthorized(`An API key is needed. ${how}`);
  const [, credential] = /^bearer +(\S+) *$/i.exec(header.slice(0, maxLength + 100)) ?? [];
  if (credential === undefined) throw unauthorized(`The Authorization header is malformed. ${how}`);
  return credential;
}

function looksLikeToken(text: string): boolean {
  return text.split(".", 4).length === 3;
}

function unauthorized(message: string): ApiError {
  return new ApiError(message, { status: 401, code: "invalid_api_key" });
}

function unavailable(cause: Error): ApiError {
  return new ApiError("Tokens cannot be verified at the moment: their issuer is unavailable. Try again.", {
    status: 503,
    code: "auth_unavailable",
    retryAfterMs: 5000,
    cause,
  });
}
