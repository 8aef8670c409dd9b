import fc from "fast-check";
import { expect, test } from "vitest";
import { isClosedJson, JsonScanner } from "./json-scanner.ts";

test("the end and the members of any object are found, however it is split", () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.string(), fc.nat(9), (object, rest, step) => {
      const text = JSON.stringify(object);
      const all = text + rest;
      const scanner = new JsonScanner({ keepsMembers: true });
      let at = 0;
      for (let base = 0; base < all.length && scanner.status === "open"; base += step + 1)
        at = base + scanner.scan(all.slice(base, base + step + 1), 0, base);
      expect(scanner.status).toBe("complete");
      expect(at).toBe(text.length);
      const members = scanner.members.map(({ keyStart, keyEnd, valueStart, valueEnd }) => [
        JSON.parse(all.slice(keyStart, keyEnd)),
        JSON.parse(all.slice(valueStart, valueEnd)),
      ]);
      expect(members).toEqual(Object.entries(JSON.parse(text)));
    }),
  );
});

test.each(["{}", "[]", " {'a': 1,}", '{a: "}"}', '[{"a": "]"}]', '{"a": {"b": [1]} "c": 2}'])(
  "%j is closed",
  (text) => {
    expect(isClosedJson(text)).toBe(true);
  },
);

test.each(["", "{", '{"a": "}', '{"a": [1}', "x", '{"a" 1}', '{"a": }', '{"a": 1</x>', "{,:"])(
  "%j is not",
  (text) => {
    expect(isClosedJson(text)).toBe(false);
  },
);
