import fc from "fast-check";
import { expect, test } from "vitest";
import { toLine } from "./fact.ts";
import { LogReader } from "./read-log.ts";

const line = (n: number, owner = "ada", boot = "a") =>
  toLine({ node: "gpu-1", boot }, n, new Date(n), { action: "request.started", owner });

function readAll(pieces: readonly Uint8Array[]) {
  const reader = new LogReader();
  const lines = [...pieces.flatMap((piece) => [...reader.read(piece)]), ...reader.end()];
  return { lines, reader };
}

test("lines are read whatever pieces they come in, and garbage between them is counted and stops nothing", () => {
  const garbage = fc.oneof(
    fc.uint8Array({ minLength: 1 }).map((bytes) => Buffer.from(bytes.filter((byte) => byte !== 10))),
    fc.json().map((text) => Buffer.from(text.replaceAll("\n", " "))),
    fc.constantFrom(line(1).slice(0, 40), '{"v":2}', "[]", "null", "").map((text) => Buffer.from(text)),
  );
  const valid = fc.string({ unit: "grapheme" }).map((owner) => ({ owner }));
  fc.assert(
    fc.property(
      fc.array(fc.oneof(garbage, valid)),
      fc.boolean(),
      fc.infiniteStream(fc.nat(40)),
      (parts, ends, cuts) => {
        let n = 0;
        const owners = parts.flatMap((part) => ("owner" in part ? [part.owner] : []));
        const whole = parts.map((part) => ("owner" in part ? Buffer.from(line(++n, part.owner)) : part));
        let rest = Buffer.concat(whole.flatMap((part) => [part, Buffer.from("\n")]));
        if (!ends && rest.length > 0) rest = rest.subarray(0, -1);
        const pieces: Uint8Array[] = [];
        while (rest.length > 0) {
          const size = cuts.next().value + 1;
          pieces.push(rest.subarray(0, size));
          rest = rest.subarray(size);
        }
        const { lines, reader } = readAll(pieces);
        expect(lines.map(({ owner }) => owner)).toEqual(owners);
        // An empty line at the very end is not one.
        const isOpenEnd = !ends && whole.at(-1)?.length === 0;
        expect(reader.broken).toBe(parts.length - owners.length - (isOpenEnd ? 1 : 0));
        expect(reader.missing).toBe(0);
      },
    ),
    { numRuns: 200 },
  );
});

test("the first broken line is named with its reason, and a line without an end is not kept whole", () => {
  const reader = new LogReader();
  const endless = Buffer.alloc(60_000, "x");
  for (let count = 0; count < 100; count += 1) expect([...reader.read(endless)]).toEqual([]);
  expect([...reader.read(Buffer.from(`\n${line(1)}\n{"v":2}\n`))]).toHaveLength(1);
  expect(reader.broken).toBe(2);
  expect(reader.firstBroken).toEqual({ line: 1, why: "it has more than 65536 bytes" });
  const later = new LogReader();
  expect([...later.read(Buffer.from('{"v":2}\n'))]).toEqual([]);
  expect(later.firstBroken).toEqual({ line: 1, why: "a later version wrote it" });
});

test("numbers that are skipped are missing lines, for each process by itself, and a repeated line is none", () => {
  const texts = [line(4), line(5), line(1, "ada", "b"), line(5), line(9), line(2, "ada", "b")];
  const { lines, reader } = readAll([Buffer.from(texts.join("\n"))]);
  expect(lines).toHaveLength(6);
  expect(reader.missing).toBe(3);
});
