// Who may use the server: keys, of which only hashes are stored, and tokens of an identity provider.

import { createPublicKey } from "node:crypto";
import type { z } from "zod";
import { choice, filePath, group, httpUrl, listOf, text } from "./fields.ts";

const keySchema = group({
  owner: text("a name, such as alice").describe(
    "Whose responses the key can see. Several keys may have one owner.",
  ),
  hash: text("sha256: and 64 hexadecimal digits, as `rondo key` prints it", (value) =>
    /^sha256:[0-9a-f]{64}$/i.test(value),
  ).meta({ description: "The hash of the key; `rondo key` makes both.", isSecret: true }),
});

/** Only algorithms that sign: `none` is not among them, and cannot be turned on. */
export const asymmetricAlgorithms = [
  ...(["RS256", "RS384", "RS512", "PS256", "PS384", "PS512"] as const),
  ...(["ES256", "ES384", "ES512", "EdDSA", "Ed25519"] as const),
] as const;
const algorithms = [...asymmetricAlgorithms, "HS256", "HS384", "HS512"] as const;

const jwtSchema = group({
  issuer: text("the issuer, as it stands in the tokens' `iss`").describe(
    "Who issues the tokens. Without `jwksUrl`, `secret` or `publicKey` its keys are discovered.",
  ),
  audience: text("the audience, as it stands in the tokens' `aud`")
    .optional()
    .describe("The audience that tokens must have. Any if not set."),
  jwksUrl: httpUrl("https://id.example.org/keys")
    .optional()
    .describe("URL of the issuer's public keys, if they cannot be discovered."),
  secret: text("at least 32 characters", (value) => Buffer.byteLength(value) >= 32)
    .optional()
    .meta({ description: "A secret shared with the issuer (HS256, HS384, HS512).", isSecret: true }),
  secretFile: filePath().describe("A file that holds the secret."),
  publicKey: text("a public key or certificate in PEM", isPublicKey)
    .optional()
    .describe("The issuer's public key, if it has only one."),
  publicKeyFile: filePath().describe("A file that holds the public key."),
  algorithms: listOf(choice(algorithms), `a list of ${algorithms.join(", ")}`)
    .optional()
    .describe("Accepted signatures. If not set: HS256 with a secret, else all with a public key."),
  ownerClaim: text("the name of a claim").default("sub").describe("The claim that names the owner."),
}).superRefine((jwt, context) => {
  const isShared = (jwt.secret ?? jwt.secretFile) !== undefined;
  const hasPublicKey = (jwt.publicKey ?? jwt.publicKeyFile) !== undefined;
  const addIssue = (message: string, ...path: string[]) =>
    context.addIssue({ code: "custom", path, message });
  if ([jwt.jwksUrl !== undefined, isShared, hasPublicKey].filter(Boolean).length > 1)
    addIssue("only one of jwksUrl, secret and publicKey");
  if (!jwt.jwksUrl && !isShared && !hasPublicKey && !/^https?:\/\//.test(jwt.issuer))
    addIssue("an http or https URL, as its keys are discovered there", "issuer");
  // A public key is not a secret: everyone who knows it could sign with it if HS… were accepted.
  if (jwt.algorithms?.some((name) => name.startsWith("HS") !== isShared))
    addIssue(isShared ? "only HS256, HS384 and HS512 with a secret" : "HS… only with a secret", "algorithms");
});

export const authSchema = group({
  keys: listOf(keySchema, "a list of keys").optional().describe("The API keys."),
  jwt: jwtSchema.optional().describe("Tokens (JWT) of an OpenID Connect issuer."),
}).superRefine((auth, context) => {
  // An empty group looks like protection without being any.
  if ((auth.keys ?? []).length === 0 && auth.jwt === undefined)
    context.addIssue({ code: "custom", message: "at least one key in auth.keys, or auth.jwt" });
});

export type AuthConfig = z.output<typeof authSchema>;
export type JwtConfig = z.output<typeof jwtSchema>;

function isPublicKey(pem: string): boolean {
  try {
    return createPublicKey(pem).asymmetricKeyType !== undefined;
  } catch {
    return false;
  }
}
