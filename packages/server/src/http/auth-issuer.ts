// The public keys of an issuer: at a known address, or at the one that its OpenID configuration names.

import { createRemoteJWKSet, customFetch, errors, type JWTVerifyGetKey, type RemoteJWKSet } from "jose";

/** The issuer cannot be asked for its keys: no fault of the client. */
export class IssuerUnavailable extends Error {
  override readonly name = "IssuerUnavailable";
}

export interface IssuerOptions {
  readonly issuer: string;
  /** Default: as the issuer's OpenID configuration says. */
  readonly jwksUrl?: string | undefined;
}

const timeoutMs = 5000;
/** Documents of issuers have a few kilobytes. */
const mostBytes = 1_000_000;

/** Finds the key of a token. Keys are kept; an unknown one is asked for, at most every 30 seconds. */
export function issuerKeys({ issuer, jwksUrl }: IssuerOptions): JWTVerifyGetKey {
  let keys: Promise<RemoteJWKSet> | undefined;
  const find = async () => {
    const url = jwksUrl === undefined ? await discover(issuer) : new URL(jwksUrl);
    return createRemoteJWKSet(url, { timeoutDuration: timeoutMs, [customFetch]: limitedFetch });
  };
  return async (header, token) => {
    try {
      // All who wait share one question; an answer that failed is asked for again by the next.
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

/** Where the keys are, by the issuer's own words. */
async function discover(issuer: string): Promise<URL> {
  const address = `${issuer.replace(/\/+$/, "")}/.well-known/openid-configuration`;
  const response = await limitedFetch(address, {
    headers: { accept: "application/json" },
    redirect: "error",
    signal: AbortSignal.timeout(timeoutMs),
  });
  if (!response.ok) throw new Error(`${address} answers with ${response.status}`);
  const said = Object(await response.json()) as { issuer?: unknown; jwks_uri?: unknown };
  if (said.issuer !== issuer)
    throw new Error(
      `${address} speaks for the issuer ${JSON.stringify(said.issuer)}; auth.jwt.issuer must be that`,
    );
  const url = typeof said.jwks_uri === "string" ? URL.parse(said.jwks_uri) : null;
  const allowed = issuer.startsWith("https:") ? /^https:$/ : /^https?:$/;
  if (url === null || !allowed.test(url.protocol))
    throw new Error(`${address} has no usable jwks_uri, but ${JSON.stringify(said.jwks_uri)}`);
  return url;
}

/** As `fetch`, for documents of a limited size: reading a larger one fails. */
async function limitedFetch(address: string, init: RequestInit): Promise<Response> {
  const { body, status, headers } = await fetch(address, init);
  let bytes = 0;
  const limit = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      bytes += chunk.length;
      if (bytes > mostBytes) throw new Error(`${address} gives more than ${mostBytes} bytes`);
      controller.enqueue(chunk);
    },
  });
  return new Response(body?.pipeThrough(limit), { status, headers });
}

function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  // What fetch itself says is only "fetch failed".
  return error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message;
}
