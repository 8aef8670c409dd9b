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

test("a scan by parts stops after each key and value, however the text is split", () => {
  const text = '{"a": 1, b: [2, {"c": 3}], "d": "e"}';
  const stopsOf = (step: number) => {
    const scanner = new JsonScanner({ keepsMembers: true });
    const stops: string[] = [];
    for (let base = 0; base < text.length; base += step) {
      const piece = text.slice(base, base + step);
      for (let at = 0; at < piece.length; ) {
        const before = partsOf(scanner);
        at = scanner.scan(piece, at, base, true);
        if (partsOf(scanner) > before) stops.push(text.slice(0, base + at));
        expect(partsOf(scanner) - before).toBeLessThanOrEqual(1);
      }
    }
    expect(scanner.status).toBe("complete");
    return stops;
  };
  const whole = stopsOf(text.length);
  expect(whole).toHaveLength(6);
  for (const step of [1, 2, 3, 7]) expect(stopsOf(step)).toEqual(whole);
});

test("members are kept only if they are asked for", () => {
  const scanner = new JsonScanner();
  scanner.scan('{"a": 1}', 0, 0);
  expect(scanner.status).toBe("complete");
  expect(scanner.members).toEqual([]);
});

function partsOf({ members }: JsonScanner): number {
  return members.length + members.filter(({ valueEnd }) => valueEnd !== undefined).length;
}
