import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ApiError } from "../protocol/api-error.ts";
import { authenticator } from "./auth.ts";
import { hashKey, newKey } from "./auth-keys.ts";

const alice = newKey();
const bob = newKey();
const authenticate = await authenticator({
  keys: [
    { owner: "alice", hash: hashKey(alice) },
    { owner: "bob", hash: hashKey(bob).replace(/[a-f]/g, (digit) => digit.toUpperCase()) },
  ],
});

async function refusalOf(authorization: string | undefined) {
  const error = await authenticate({ authorization }).then(
    () => undefined,
    (error: unknown) => error,
  );
  if (!(error instanceof ApiError)) throw new Error("expected a refusal", { cause: error });
  return error;
}

test("without auth everyone is the owner `local`, whatever is sent", async () => {
  const open = await authenticator(undefined);
  expect(await open({})).toEqual({ owner: "local" });
  expect(await open({ authorization: "Bearer anything" })).toEqual({ owner: "local" });
});

describe("a key", () => {
  test("has the owner that the config says, and an id for the audit log", async () => {
    const idOf = (key: string) => hashKey(key).slice(0, 19);
    const ofAlice = { owner: "key:alice", keyId: idOf(alice) };
    expect(await authenticate({ authorization: `Bearer ${alice}` })).toEqual(ofAlice);
    expect(await authenticate({ authorization: `bearer  ${bob} ` })).toEqual({
      owner: "key:bob",
      keyId: idOf(bob),
    });
    expect(await authenticate(new Headers({ authorization: `Bearer ${alice}` }))).toEqual(ofAlice);
  });

  test("is new each time, long, and hashed with SHA-256", () => {
    expect(newKey()).not.toBe(newKey());
    expect(alice).toMatch(/^rondo_[\w-]{43}$/);
    expect(hashKey(alice)).toBe(`sha256:${createHash("sha256").update(alice).digest("hex")}`);
  });

  test.each([
    ["nothing", undefined, /^An API key is needed\. Send `Authorization: Bearer KEY`/],
    ["an empty header", "", /^An API key is needed/],
    ["another scheme", `Basic ${btoa("alice:x")}`, /^The Authorization header is malformed/],
    ["a bare key", alice, /^The Authorization header is malformed/],
    ["two keys", `Bearer ${alice} ${bob}`, /^The Authorization header is malformed/],
    ["the hash instead of the key", `Bearer ${hashKey(alice)}`, /^The API key is unknown/],
    ["a key with another letter", `Bearer ${alice.slice(0, -1)}!`, /^The API key is unknown/],
    ["the start of a key", `Bearer ${alice.slice(0, -1)}`, /^The API key is unknown/],
    ["what looks like a token, where none are taken", "Bearer a.b.c", /^The API key is unknown/],
    ["a very long one", `Bearer ${"x".repeat(1_000_000)}`, /too long/],
  ])("is refused: %s", async (_, authorization, expected) => {
    const { status, type, code, message } = await refusalOf(authorization);
    expect({ status, type, code }).toEqual({
      status: 401,
      type: "invalid_request_error",
      code: "invalid_api_key",
    });
    expect(message).toMatch(expected);
  });

  test("that is rejected is never in the message", async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: "binary", minLength: 8 }), async (text) => {
        const { status, message } = await refusalOf(`Bearer ${text}`);
        expect(status).toBe(401);
        expect(message).not.toContain(text);
      }),
    );
  });
});
