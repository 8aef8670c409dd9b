// Who may use the server: keys, of which only hashes are kept, and tokens of an identity provider.

import { createPublicKey } from "node:crypto";
import type { z } from "zod";
import { choice, group, httpUrl, listOf, text } from "./fields.ts";

const keySchema = group({
  owner: text("a name, such as alice").meta({
    description: "Whose responses the key can see. Several keys may have one owner.",
  }),
  hash: text("sha256: and 64 hexadecimal digits, as `rondo key` prints it", (value) =>
    /^sha256:[0-9a-f]{64}$/i.test(value),
  ).meta({ description: "The hash of the key; `rondo key` makes both.", isSecret: true }),
});

/** Only algorithms that sign: `none` is not among them, and cannot be turned on. */
export const asymmetricAlgorithms = [
  "RS256",
  "RS384",
  "RS512",
  "PS256",
  "PS384",
  "PS512",
  "ES256",
  "ES384",
  "ES512",
  "EdDSA",
  "Ed25519",
] as const;
const algorithms = [...asymmetricAlgorithms, "HS256", "HS384", "HS512"] as const;

const jwtSchema = group({
  issuer: text("the issuer, as it stands in the tokens' `iss`").meta({
    description: "Who makes the tokens. Without `jwksUrl`, `secret` or `publicKey` its keys are discovered.",
  }),
  audience: text("the audience, as it stands in the tokens' `aud`")
    .optional()
    .meta({ description: "For whom the tokens must be. Any audience if not set." }),
  jwksUrl: httpUrl("https://id.example.org/keys")
    .optional()
    .meta({ description: "Where the issuer's public keys are, if discovery does not tell." }),
  secret: text("at least 32 characters", (value) => Buffer.byteLength(value) >= 32)
    .optional()
    .meta({ description: "A secret that is shared with the issuer (HS256, HS384, HS512).", isSecret: true }),
  secretFile: text("the path of a file").optional().meta({ description: "A file that holds the secret." }),
  publicKey: text("a public key or certificate in PEM", isPublicKey)
    .optional()
    .meta({ description: "The issuer's public key, if it has only one." }),
  publicKeyFile: text("the path of a file")
    .optional()
    .meta({ description: "A file that holds the public key." }),
  algorithms: listOf(choice(algorithms), `a list of ${algorithms.join(", ")}`)
    .optional()
    .meta({
      description: "Which signatures count. If not set: HS256 with a secret, else all with a public key.",
    }),
  ownerClaim: text("the name of a claim")
    .default("sub")
    .meta({ description: "The claim that names the owner." }),
}).superRefine((jwt, context) => {
  const isShared = (jwt.secret ?? jwt.secretFile) !== undefined;
  const hasPublicKey = (jwt.publicKey ?? jwt.publicKeyFile) !== undefined;
  const addIssue = (message: string, ...path: string[]) =>
    context.addIssue({ code: "custom", path, message });
  if ([jwt.jwksUrl !== undefined, isShared, hasPublicKey].filter(Boolean).length > 1)
    addIssue("only one of jwksUrl, secret and publicKey");
  if (!jwt.jwksUrl && !isShared && !hasPublicKey && !/^https?:\/\//.test(jwt.issuer))
    addIssue("an http or https URL, as its keys are discovered there", "issuer");
  // A public key is no secret: whoever knows it could sign with it, if HS… counted.
  if (jwt.algorithms?.some((name) => name.startsWith("HS") !== isShared))
    addIssue(isShared ? "only HS256, HS384 and HS512 with a secret" : "HS… only with a secret", "algorithms");
});

export const authSchema = group({
  keys: listOf(keySchema, "a list of keys").optional().meta({ description: "The API keys." }),
  jwt: jwtSchema.optional().meta({ description: "Tokens (JWT) of an OpenID Connect issuer." }),
}).superRefine((auth, context) => {
  // An empty group reads like protection, and would be none.
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
