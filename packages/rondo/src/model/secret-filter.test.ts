import fc from "fast-check";
import { expect, test } from "vitest";
import { SecretFilter, withoutSecrets } from "./secret-filter.ts";

function filtered(pieces: readonly string[], secrets: readonly string[]): string[] {
  const filter = new SecretFilter(secrets);
  return [...pieces.map((piece) => filter.take(piece)), filter.end()];
}

test("a text comes out piece by piece, without secrets", () => {
  const secrets = ["Bearer sk-1234", "sk-1234"];
  expect(filtered(["a", "b"], secrets)).toEqual(["a", "b", ""]);
  expect(filtered(["key sk-12", "34!"], secrets)).toEqual(["key ", "(hidden)!", ""]);
  expect(filtered(["key s", "o"], secrets)).toEqual(["key ", "so", ""]);
  expect(filtered(["key sk-1"], secrets)).toEqual(["key ", "sk-1"]);
  expect(filtered(["sk-1234"], [])).toEqual(["sk-1234", ""]);
});

test("however it is split, it is the same text, and no secret is in it", () => {
  const text = fc.array(fc.constantFrom("a", "b", "aab", "aabab"), { maxLength: 12 });
  fc.assert(
    fc.property(text, fc.constantFrom("aabab", "ababa", "aaaaaa"), (pieces, secret) => {
      const shown = filtered(pieces, [secret]).join("");
      expect(shown).not.toContain(secret);
      expect(shown).toBe(withoutSecrets(pieces.join(""), [secret]));
    }),
  );
});
