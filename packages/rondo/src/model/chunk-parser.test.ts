import fc from "fast-check";
import { describe, expect, test, vi } from "vitest";
import { ChunkParser } from "./chunk-parser.ts";

function chunk(delta: object, more: object = {}): string {
  return JSON.stringify({ id: "c-1", choices: [{ index: 0, delta, finish_reason: null }], ...more });
}

/** What a parser makes of each text; what it cannot parse is `undefined`. */
function parseAll(parse: (json: string) => unknown, texts: readonly string[]): unknown[] {
  return texts.map((text) => {
    try {
      return structuredClone(parse(text));
    } catch {
      return undefined;
    }
  });
}

test("any text is parsed as by JSON.parse", () => {
  const word = fc.oneof(
    fc.constantFrom("c-1", "content", ",", ":", '"', "\\", '","x":"', "\n", "", "é👩‍💻", "stop", "word"),
    fc.string({ unit: "binary", maxLength: 4 }),
  );
  const delta = fc.oneof(
    fc.record({ content: word }),
    fc.record({ role: fc.constant("assistant"), content: word }),
    fc.record({ reasoning_content: word, content: fc.constantFrom("", null) }),
    fc.record({ content: word, note: word }),
    fc.record({ tool_calls: fc.array(fc.record({ index: fc.nat(2), name: word })) }),
    fc.record({ content: fc.oneof(fc.nat(), fc.constant(null), fc.array(word)) }),
  );
  const json = fc.tuple(delta, fc.record({ usage: fc.constantFrom(null, { total_tokens: 3 }), by: word }));
  const broken = fc.tuple(json, fc.nat(), word).map(([[fields, more], at, text]) => {
    const whole = chunk(fields, more);
    const cut = at % whole.length;
    return whole.slice(0, cut) + text + whole.slice(cut);
  });
  const odd = fc.constantFrom(
    "null",
    "[]",
    "1",
    '{"choices":[]}',
    '{"choices":null}',
    '{"choices":[{"delta":[1]}]}',
  );
  const plain = word.map((content) => chunk({ content }));
  const text = fc.oneof(
    { weight: 4, arbitrary: plain },
    { weight: 2, arbitrary: json.map(([fields, more]) => chunk(fields, more)) },
    broken,
    odd,
  );
  fc.assert(
    fc.property(fc.array(text, { maxLength: 30 }), (texts) => {
      const parser = new ChunkParser();
      expect(parseAll((it) => parser.parse(it), texts)).toEqual(parseAll((it) => JSON.parse(it), texts));
    }),
    { numRuns: 1_000 },
  );
});

test.each([",", ":", "},{", ":[{"])(
  "%j, which also stands between the strings of a chunk, is a text",
  (content) => {
    const text = chunk({ content });
    expect(new ChunkParser().parse(text)).toEqual(JSON.parse(text));
  },
);

describe("how much is parsed", () => {
  /** How many characters are parsed in all, and how many there are. */
  function parsedOf(texts: readonly string[]): { parsed: number; total: number } {
    const parse = vi.spyOn(JSON, "parse");
    const parser = new ChunkParser();
    for (const text of texts) parser.parse(text);
    const parsed = parse.mock.calls.reduce((sum, [text]) => sum + text.length, 0);
    parse.mockRestore();
    return { parsed, total: texts.reduce((sum, text) => sum + text.length, 0) };
  }

  test("is little where chunks differ only in their text", () => {
    const { parsed, total } = parsedOf(Array.from({ length: 100 }, (_, i) => chunk({ content: ` w${i}` })));
    expect(parsed).toBeLessThan(total / 5);
  });

  test("is low for thinking too, and after other chunks in between", () => {
    const texts = Array.from({ length: 100 }, (_, i) =>
      i === 50
        ? chunk({ content: "" }, { usage: {} })
        : chunk({ reasoning_content: ` w${i}`, content: null }),
    );
    const { parsed, total } = parsedOf(texts);
    expect(parsed).toBeLessThan(total / 5);
  });

  test("is not twice as much where chunks always differ in something else", () => {
    const { parsed, total } = parsedOf(
      Array.from({ length: 200 }, (_, i) => chunk({ content: "w" }, { obfuscation: `${i}` })),
    );
    expect(parsed).toBeLessThan(total * 1.1);
  });
});
