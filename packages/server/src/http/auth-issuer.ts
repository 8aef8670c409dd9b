// The public keys of a token issuer: from a configured URL, or from the one in its OpenID configuration.

import { createRemoteJWKSet, customFetch, errors, type JWTVerifyGetKey, type RemoteJWKSet } from "jose";
import { IssuerUnavailable } from "./auth-errors.ts";

export interface IssuerOptions {
  readonly issuer: string;
  /** Default: from the issuer's OpenID configuration. */
  readonly jwksUrl?: string | undefined;
}

const timeoutMs = 5000;
/** Issuers' documents have a few kilobytes. */
const maxBytes = 1_000_000;

/** Finds the key of a token. Keys are cached; an unknown one is fetched, at most every 30 seconds. */
export function issuerKeys({ issuer, jwksUrl }: IssuerOptions): JWTVerifyGetKey {
  let keys: Promise<RemoteJWKSet> | undefined;
  const find = async () => {
    const url = jwksUrl === undefined ? await discover(issuer) : new URL(jwksUrl);
    return createRemoteJWKSet(url, { timeoutDuration: timeoutMs, [customFetch]: limitedFetch });
  };
  return async (header, token) => {
    try {
      // Concurrent requests share one fetch; the next one retries a failed fetch.
      keys ??= find().catch((error: unknown) => {
        keys = undefined;
        throw error;
      });
      return await (await keys)(header, token);
    } catch (error) {
      if (isAboutToken(error)) throw error;
      throw new IssuerUnavailable(`The keys of ${issuer} cannot be read: ${messageOf(error)}`, {
        cause: error,
      });
    }
  };
}

function isAboutToken(error: unknown): boolean {
  return (
    error instanceof errors.JWKSNoMatchingKey ||
    error instanceof errors.JWKSMultipleMatchingKeys ||
    error instanceof errors.JOSENotSupported
  );
}

/** The URL of the keys in the issuer's OpenID configuration. */
async function discover(issuer: string): Promise<URL> {
  const address = `${issuer.replace(/\/+$/, "")}/.well-known/openid-configuration`;
  const response = await limitedFetch(address, {
    headers: { accept: "application/json" },
    redirect: "error",
    signal: AbortSignal.timeout(timeoutMs),
  });
  if (!response.ok) throw new Error(`${address} answers with ${response.status}`);
  const found = Object(await response.json()) as { issuer?: unknown; jwks_uri?: unknown };
  if (found.issuer !== issuer)
    throw new Error(
      `${address} speaks for the issuer ${JSON.stringify(found.issuer)}; auth.jwt.issuer must be that`,
    );
  const url = typeof found.jwks_uri === "string" ? URL.parse(found.jwks_uri) : null;
  const allowed = issuer.startsWith("https:") ? /^https:$/ : /^https?:$/;
  if (url === null || !allowed.test(url.protocol))
    throw new Error(`${address} has no usable jwks_uri, but ${JSON.stringify(found.jwks_uri)}`);
  return url;
}

/** As `fetch`, for documents of limited size: reading a larger one fails. */
async function limitedFetch(address: string, init: RequestInit): Promise<Response> {
  const { body, status, headers } = await fetch(address, init);
  let bytes = 0;
  const limit = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      bytes += chunk.length;
      if (bytes > maxBytes) throw new Error(`${address} gives more than ${maxBytes} bytes`);
      controller.enqueue(chunk);
    },
  });
  return new Response(body?.pipeThrough(limit), { status, headers });
}

function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  // The message of fetch itself is only "fetch failed".
  return error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message;
}
