// Verifies JWTs of an identity provider: signature, audience, expiry and owner.

import { createPublicKey, createSecretKey, type KeyObject } from "node:crypto";
import { errors, type JWTPayload, type JWTVerifyGetKey, jwtVerify } from "jose";
import { asymmetricAlgorithms, type JwtConfig } from "../config/auth-schema.ts";
import { IssuerUnavailable, TokenRejected } from "./auth-errors.ts";
import { issuerKeys } from "./auth-issuer.ts";

/** Verifies a token: its owner and expiry. Throws `TokenRejected` or `IssuerUnavailable`. */
export type VerifyToken = (token: string) => Promise<{ owner: string; keyId: string; expiresAtMs: number }>;

const clockToleranceSeconds = 5;
const maxOwnerLength = 512;

/** Verifies the tokens of one issuer. */
export function tokenVerifier(jwt: JwtConfig): VerifyToken {
  const { issuer, audience, ownerClaim } = jwt;
  const key = keyOf(jwt);
  const options = {
    issuer,
    ...(audience === undefined ? {} : { audience }),
    // Never the token's own choice: `none`, or a public key used as a secret, must not pass.
    algorithms: jwt.algorithms ?? (jwt.secret === undefined ? [...asymmetricAlgorithms] : ["HS256"]),
    clockTolerance: clockToleranceSeconds,
    requiredClaims: ["exp", ownerClaim],
  };
  return async (token) => {
    try {
      const { payload } =
        typeof key === "function"
          ? await jwtVerify(token, key, options)
          : await jwtVerify(token, key, options);
      const owner = ownerIn(payload, ownerClaim, issuer);
      const keyId = typeof payload.jti === "string" ? `jwt:${payload.jti}` : "jwt";
      return { owner, keyId, expiresAtMs: expiryIn(payload) };
    } catch (error) {
      if (error instanceof IssuerUnavailable || error instanceof TokenRejected) throw error;
      throw new TokenRejected(reasonOf(error), { cause: error });
    }
  };
}

function keyOf(jwt: JwtConfig): KeyObject | JWTVerifyGetKey {
  if (jwt.secret !== undefined) return createSecretKey(Buffer.from(jwt.secret));
  return jwt.publicKey === undefined ? issuerKeys(jwt) : createPublicKey(jwt.publicKey);
}

/** Includes the issuer, so that it never equals the owner of a key or of another issuer's token. */
function ownerIn(payload: JWTPayload, claim: string, issuer: string): string {
  const value = payload[claim];
  if (typeof value !== "string" || value === "" || value.length > maxOwnerLength)
    throw new TokenRejected(`Its claim ${claim} must be a text of 1 to ${maxOwnerLength} characters.`);
  return `jwt:${issuer}:${value}`;
}

/** JSON can hold numbers that parse as infinite, such as 1e999: such a token would never expire. */
function expiryIn(payload: JWTPayload): number {
  for (const claim of ["exp", "nbf", "iat"])
    if (payload[claim] !== undefined && !Number.isFinite(payload[claim]))
      throw new TokenRejected(`Its claim ${claim} must be a finite number.`);
  return (Number(payload.exp) + clockToleranceSeconds) * 1000;
}

function reasonOf(error: unknown): string {
  if (error instanceof errors.JWTExpired) return "It has expired; get a new one.";
  if (error instanceof errors.JWTClaimValidationFailed) {
    if (error.reason === "missing") return `It has no claim ${error.claim}.`;
    if (error.claim === "iss") return "It is from another issuer.";
    if (error.claim === "aud") return "It is for another audience.";
    if (error.claim === "nbf") return "It is not valid yet.";
    return `Its claim ${error.claim} is wrong.`;
  }
  if (error instanceof errors.JOSEAlgNotAllowed) return "Its algorithm is not allowed here.";
  if (error instanceof errors.JWSSignatureVerificationFailed) return "Its signature is wrong.";
  if (error instanceof errors.JWKSNoMatchingKey)
    return "It is signed with a key that the issuer does not have.";
  if (error instanceof errors.JWKSMultipleMatchingKeys) return "It does not name its key (kid).";
  return "It is not a signed token.";
}
