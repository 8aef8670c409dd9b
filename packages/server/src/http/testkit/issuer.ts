// An identity provider on loopback: signs real tokens, and publishes its keys as OpenID Connect has it.
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { type CryptoKey, exportJWK, generateKeyPair, type JWK, SignJWT } from "jose";

export interface TokenOptions {
  claims?: Record<string, unknown>;
  header?: Record<string, unknown>;
  issuer?: string;
  audience?: string;
  subject?: string | null;
  /** Seconds from now, or null for none. Default: 60. */
  expiresIn?: number | null;
  notBeforeIn?: number;
  /** Default: the issuer's own key. */
  key?: CryptoKey | Uint8Array;
}

export interface Issuer extends AsyncDisposable {
  readonly url: string;
  readonly jwksUrl: string;
  /** What was asked for, in order. */
  readonly asked: string[];
  /** The published keys, to be changed at will. */
  readonly keys: JWK[];
  /** What the OpenID configuration says, to be changed at will. */
  configuration: unknown;
  /** The status of all answers. */
  status: number;
  /** What all answers repeat without an end. Default: they are what they should be. */
  flood: Buffer | undefined;
  sign(options?: TokenOptions): Promise<string>;
  /** A new key pair of this issuer; not published yet. */
  newKey(kid: string, alg?: string): Promise<{ privateKey: CryptoKey; jwk: JWK }>;
}

export async function startIssuer(): Promise<Issuer> {
  const asked: string[] = [];
  const keys: JWK[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url ?? "");
    const isKeys = request.url === "/keys";
    response.writeHead(issuer.status, { "content-type": "application/json" });
    if (issuer.flood) {
      Readable.from(endless(issuer.flood)).pipe(response);
      return;
    }
    response.end(JSON.stringify(isKeys ? { keys } : issuer.configuration));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const first = await newKey("first");
  keys.push(first.jwk);
  const issuer: Issuer = {
    url,
    jwksUrl: `${url}/keys`,
    asked,
    keys,
    configuration: { issuer: url, jwks_uri: `${url}/keys` },
    status: 200,
    flood: undefined,
    newKey,
    sign: (options = {}) => signed({ issuer: url, key: first.privateKey, ...options }),
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
  return issuer;
}

function* endless(part: Buffer): Generator<Buffer> {
  while (true) yield part;
}

async function newKey(kid: string, alg = "ES256") {
  const { privateKey, publicKey } = await generateKeyPair(alg);
  return { privateKey, jwk: { ...(await exportJWK(publicKey)), kid, alg, use: "sig" } };
}

function signed(options: TokenOptions & { issuer: string; key: CryptoKey | Uint8Array }): Promise<string> {
  const {
    claims = {},
    header = {},
    issuer,
    audience,
    subject = "alice",
    expiresIn = 60,
    notBeforeIn,
    key,
  } = options;
  const now = Math.floor(Date.now() / 1000);
  const token = new SignJWT({
    ...(subject === null ? {} : { sub: subject }),
    ...(audience === undefined ? {} : { aud: audience }),
    ...(expiresIn === null ? {} : { exp: now + expiresIn }),
    ...(notBeforeIn === undefined ? {} : { nbf: now + notBeforeIn }),
    iss: issuer,
    ...claims,
  });
  return token.setProtectedHeader({ alg: "ES256", kid: "first", ...header }).sign(key);
}
