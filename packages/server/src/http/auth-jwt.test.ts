import { CompactSign, type CryptoKey, exportSPKI, generateKeyPair } from "jose";
import { beforeAll, describe, expect, test } from "vitest";
import { resolveConfig } from "../config/check-config.ts";
import type { ConfigInput } from "../config/schema.ts";
import { ApiError } from "../protocol/api-error.ts";
import { authenticator } from "./auth.ts";
import { hashKey } from "./auth-keys.ts";
import { type Issuer, startIssuer, type TokenOptions } from "./testkit/issuer.ts";

type JwtInput = NonNullable<NonNullable<ConfigInput["auth"]>["jwt"]>;

const secret = "a secret that both sides share, long enough";

function accepting(jwt: JwtInput, onWarning?: (message: string) => void) {
  const { auth } = resolveConfig({ auth: { jwt } });
  const authenticate = authenticator(auth, onWarning ? { onWarning } : {});
  return async (token: string) => (await authenticate)({ authorization: `Bearer ${token}` });
}

async function refusalOf(promise: Promise<unknown>) {
  const error = await promise.then(
    (result) => result,
    (error: unknown) => error,
  );
  if (!(error instanceof ApiError))
    throw new Error(`expected a refusal, got ${JSON.stringify(error)}`, { cause: error });
  return error;
}

function unsigned(header: object, payload: object): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  return `${part(header)}.${part(payload)}.`;
}

describe("a token", () => {
  test("has an owner that names its issuer", async () => {
    await using issuer = await startIssuer();
    const check = accepting({ issuer: issuer.url, jwksUrl: issuer.jwksUrl });
    expect(await check(await issuer.sign())).toMatchObject({ owner: `jwt:${issuer.url}:alice` });
  });

  test("may name its owner in another claim", async () => {
    await using issuer = await startIssuer();
    const check = accepting({ issuer: issuer.url, jwksUrl: issuer.jwksUrl, ownerClaim: "email" });
    const token = await issuer.sign({ claims: { email: "a@example.org" } });
    expect(await check(token)).toMatchObject({ owner: `jwt:${issuer.url}:a@example.org` });
    expect((await refusalOf(check(await issuer.sign()))).message).toBe(
      "The token is rejected. It has no claim email.",
    );
  });

  test("is checked beside keys, and its owner is never a key's", async () => {
    await using issuer = await startIssuer();
    const key = "rondo_key";
    const authenticate = await authenticator(
      resolveConfig({
        auth: {
          keys: [{ owner: `${issuer.url}:alice`, hash: hashKey(key) }],
          jwt: { issuer: issuer.url, jwksUrl: issuer.jwksUrl },
        },
      }).auth,
    );
    const owners = await Promise.all(
      [key, await issuer.sign()].map((credential) => authenticate({ authorization: `Bearer ${credential}` })),
    );
    expect(owners).toMatchObject([
      { owner: `key:${issuer.url}:alice` },
      { owner: `jwt:${issuer.url}:alice` },
    ]);
  });

  test("passes with the right audience, alone or among others", async () => {
    await using issuer = await startIssuer();
    const check = accepting({ issuer: issuer.url, jwksUrl: issuer.jwksUrl, audience: "rondo" });
    expect(await check(await issuer.sign({ audience: "rondo" }))).toHaveProperty("owner");
    expect(await check(await issuer.sign({ claims: { aud: ["other", "rondo"] } }))).toHaveProperty("owner");
  });

  test.each<[string, TokenOptions, string]>([
    ["it has expired", { expiresIn: -30 }, "It has expired; get a new one."],
    ["it never expires", { expiresIn: null }, "It has no claim exp."],
    ["it is not valid yet", { notBeforeIn: 30 }, "It is not valid yet."],
    ["it is from another issuer", { issuer: "https://evil.example" }, "It is from another issuer."],
    ["it is for another audience", { audience: "other" }, "It is for another audience."],
    ["it is for no audience", { claims: { aud: undefined } }, "It has no claim aud."],
    ["it is about nobody", { subject: null }, "It has no claim sub."],
    ["it is about an empty name", { subject: "" }, "Its claim sub must be a text of 1 to 512 characters."],
    ["it is about a number", { claims: { sub: 5 } }, "Its claim sub must be a text of 1 to 512 characters."],
    [
      "it is about a very long name",
      { subject: "x".repeat(513) },
      "Its claim sub must be a text of 1 to 512 characters.",
    ],
    [
      "its key is unknown",
      { header: { kid: "second" } },
      "It is signed with a key that the issuer does not have.",
    ],
  ])("is refused when %s", async (_, options, expected) => {
    await using issuer = await startIssuer();
    const check = accepting({ issuer: issuer.url, jwksUrl: issuer.jwksUrl, audience: "rondo" });
    const { status, code, message } = await refusalOf(
      check(await issuer.sign({ audience: "rondo", ...options })),
    );
    expect({ status, code, message }).toEqual({
      status: 401,
      code: "invalid_api_key",
      message: `The token is rejected. ${expected}`,
    });
  });

  test("may be a few seconds off, for clock skew", async () => {
    await using issuer = await startIssuer();
    const check = accepting({ issuer: issuer.url, jwksUrl: issuer.jwksUrl });
    expect(await check(await issuer.sign({ expiresIn: -1, notBeforeIn: -1 }))).toHaveProperty("owner");
  });

  test("is rejected when it is signed by another key, or altered", async () => {
    await using issuer = await startIssuer();
    const check = accepting({ issuer: issuer.url, jwksUrl: issuer.jwksUrl });
    const { privateKey } = await issuer.newKey("first");
    const forged = await issuer.sign({ key: privateKey });
    expect((await refusalOf(check(forged))).message).toBe("The token is rejected. Its signature is wrong.");
    const [header, , signature] = (await issuer.sign()).split(".");
    const [, payload] = (await issuer.sign({ subject: "bob" })).split(".");
    expect((await refusalOf(check(`${header}.${payload}.${signature}`))).message).toContain(
      "signature is wrong",
    );
  });

  test("is rejected when it is unsigned", async () => {
    await using issuer = await startIssuer();
    const check = accepting({ issuer: issuer.url, jwksUrl: issuer.jwksUrl });
    const payload = { iss: issuer.url, sub: "alice", exp: Math.floor(Date.now() / 1000) + 60 };
    for (const alg of ["none", "None", "NONE", ""])
      expect((await refusalOf(check(unsigned({ alg }, payload)))).status).toBe(401);
    expect((await refusalOf(check(unsigned({}, payload)))).status).toBe(401);
  });

  test.each(["a.b.c", "..", "e30.e30.e30", "💥.💥.💥", `${"a".repeat(9000)}.b.c`, "a.b.c.d"])(
    "is refused when it is garbage: %.20s",
    async (garbage) => {
      const check = accepting({ issuer: "me", secret });
      expect((await refusalOf(check(garbage))).status).toBe(401);
    },
  );
});

describe("a public key", () => {
  let privateKey: CryptoKey;
  let pem: string;

  beforeAll(async () => {
    const pair = await generateKeyPair("RS256");
    privateKey = pair.privateKey;
    pem = await exportSPKI(pair.publicKey);
  });

  test("is enough to verify tokens", async () => {
    await using issuer = await startIssuer();
    const check = accepting({ issuer: "me", publicKey: pem });
    expect(
      await check(await issuer.sign({ issuer: "me", key: privateKey, header: { alg: "RS256" } })),
    ).toMatchObject({
      owner: "jwt:me:alice",
    });
  });

  test("is not a secret: a token that is signed with it as one is rejected", async () => {
    await using issuer = await startIssuer();
    const check = accepting({ issuer: "me", publicKey: pem });
    const key = new TextEncoder().encode(pem);
    const forged = await issuer.sign({ issuer: "me", key, header: { alg: "HS256" } });
    expect((await refusalOf(check(forged))).message).toBe(
      "The token is rejected. Its algorithm is not allowed here.",
    );
  });

  test("of a key set is not a secret either", async () => {
    await using issuer = await startIssuer();
    const check = accepting({ issuer: issuer.url, jwksUrl: issuer.jwksUrl });
    const key = new TextEncoder().encode(JSON.stringify(issuer.keys[0]));
    expect((await refusalOf(check(await issuer.sign({ key, header: { alg: "HS256" } })))).status).toBe(401);
  });

  test("counts only for the algorithms that the config allows", async () => {
    await using issuer = await startIssuer();
    const check = accepting({ issuer: issuer.url, jwksUrl: issuer.jwksUrl, algorithms: ["EdDSA"] });
    expect((await refusalOf(check(await issuer.sign()))).message).toContain("not allowed here");
    const { privateKey, jwk } = await issuer.newKey("second", "EdDSA");
    issuer.keys.push(jwk);
    const token = await issuer.sign({ key: privateKey, header: { alg: "EdDSA", kid: "second" } });
    expect(await check(token)).toHaveProperty("owner");
  });
});

describe("a shared secret", () => {
  const key = new TextEncoder().encode(secret);

  test("verifies tokens that are signed with it, and no others", async () => {
    await using issuer = await startIssuer();
    const check = accepting({ issuer: "me", secret });
    const sign = (options: TokenOptions) =>
      issuer.sign({ issuer: "me", header: { alg: "HS256" }, key, ...options });
    expect(await check(await sign({}))).toMatchObject({ owner: "jwt:me:alice" });
    const other = new TextEncoder().encode(`${secret}!`);
    expect((await refusalOf(check(await sign({ key: other })))).message).toContain("signature is wrong");
    expect((await refusalOf(check(await sign({ header: { alg: "HS512" } })))).message).toContain(
      "not allowed",
    );
  });
});

describe("the keys of an issuer", () => {
  test("are discovered, once", async () => {
    await using issuer = await startIssuer();
    const check = accepting({ issuer: issuer.url });
    const token = await issuer.sign();
    await Promise.all([check(token), check(token), check(token)]);
    await check(token);
    expect(issuer.asked).toEqual(["/.well-known/openid-configuration", "/keys"]);
  });

  test("must be a single one if the token names none", async () => {
    await using issuer = await startIssuer();
    const check = accepting({ issuer: issuer.url });
    const token = await issuer.sign({ header: { kid: undefined } });
    expect(await check(token)).toHaveProperty("owner");
    await using other = await startIssuer();
    other.keys.push((await other.newKey("second")).jwk);
    const unclear = await other.sign({ header: { kid: undefined } });
    expect((await refusalOf(accepting({ issuer: other.url })(unclear))).message).toContain("(kid)");
  });

  async function expectUnavailable(issuer: Issuer, jwt: JwtInput) {
    const warnings: string[] = [];
    const check = accepting(jwt, (message) => warnings.push(message));
    const { status, code, retryAfterMs, message } = await refusalOf(check(await issuer.sign()));
    expect({ status, code, retryAfterMs }).toEqual({
      status: 503,
      code: "auth_unavailable",
      retryAfterMs: 5000,
    });
    expect(message).toBe("Tokens cannot be verified at the moment: their issuer is unavailable. Try again.");
    return { check, warning: warnings.join("\n") };
  }

  test("that cannot be fetched give a 503 and a warning, and the next request retries", async () => {
    await using issuer = await startIssuer();
    issuer.status = 500;
    const discovered = await expectUnavailable(issuer, { issuer: issuer.url });
    const direct = await expectUnavailable(issuer, { issuer: issuer.url, jwksUrl: issuer.jwksUrl });
    expect(discovered.warning).toContain("/.well-known/openid-configuration answers with 500");
    expect(direct.warning).toMatch(/^The keys of http:\/\/127\.0\.0\.1:\d+ cannot be read: Expected 200 OK/);
    issuer.status = 200;
    expect(await discovered.check(await issuer.sign())).toHaveProperty("owner");
    expect(await direct.check(await issuer.sign())).toHaveProperty("owner");
  });

  test("may not be endless", async () => {
    await using issuer = await startIssuer();
    issuer.flood = Buffer.alloc(100_000, " ");
    const discovered = await expectUnavailable(issuer, { issuer: issuer.url });
    const direct = await expectUnavailable(issuer, { issuer: issuer.url, jwksUrl: issuer.jwksUrl });
    expect(discovered.warning).toContain("/.well-known/openid-configuration gives more than 1000000 bytes");
    expect(direct.warning).toContain("cannot be read");
    expect(direct.warning).not.toContain("timed out");
  });

  test("must be those of the configured issuer", async () => {
    await using issuer = await startIssuer();
    issuer.configuration = { issuer: "https://evil.example", jwks_uri: issuer.jwksUrl };
    expect((await expectUnavailable(issuer, { issuer: issuer.url })).warning).toContain(
      'speaks for the issuer "https://evil.example"; auth.jwt.issuer must be that',
    );
  });

  test.each([null, {}, { jwks_uri: 5 }, { jwks_uri: "file:///etc/passwd" }])(
    "must be somewhere: %j",
    async (configuration) => {
      await using issuer = await startIssuer();
      issuer.configuration = configuration && { issuer: issuer.url, ...configuration };
      await expectUnavailable(issuer, { issuer: issuer.url });
    },
  );

  test("may be behind an issuer that is down", async () => {
    const issuer = await startIssuer();
    await issuer[Symbol.asyncDispose]();
    expect((await expectUnavailable(issuer, { issuer: issuer.url })).warning).toContain("ECONNREFUSED");
  });
});

describe("the time of a token", () => {
  const now = Math.floor(Date.now() / 1000);
  const signText = (claims: string) =>
    new CompactSign(Buffer.from(`{"iss":"me","sub":"alice",${claims}}`))
      .setProtectedHeader({ alg: "HS256" })
      .sign(Buffer.from(secret));

  test("is reported with its owner, with a few seconds for clock skew", async () => {
    const check = accepting({ issuer: "me", secret });
    expect(await check(await signText(`"exp":${now + 60}`))).toEqual({
      owner: "jwt:me:alice",
      keyId: "jwt",
      expiresAtMs: (now + 65) * 1000,
    });
  });

  test.each([
    ["exp", `"exp":1e999`],
    ["nbf", `"exp":${now + 60},"nbf":-1e999`],
    ["iat", `"exp":${now + 60},"iat":1e999`],
  ])("must be a finite number: %s", async (claim, claims) => {
    const { status, message } = await refusalOf(accepting({ issuer: "me", secret })(await signText(claims)));
    expect({ status, message }).toEqual({
      status: 401,
      message: `The token is rejected. Its claim ${claim} must be a finite number.`,
    });
  });

  test.each([`"exp":"${now + 60}"`, `"exp":null`, `"exp":true`])("must be a number: %s", async (claims) => {
    const check = accepting({ issuer: "me", secret });
    expect((await refusalOf(check(await signText(claims)))).status).toBe(401);
  });
});
