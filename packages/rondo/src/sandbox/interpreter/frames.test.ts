import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { plainText } from "../plain-text.ts";
import { type DriverMessage, FrameReader } from "./frames.ts";

const marker = Buffer.from("\0\x1erondo:0123456789abcdef:");

function readAll(bytes: Buffer, cuts: readonly number[]): { output: Buffer; messages: DriverMessage[] } {
  const parts: Buffer[] = [];
  const messages: DriverMessage[] = [];
  const reader = new FrameReader({
    marker,
    maxPayloadBytes: 100,
    onOutput: (part) => parts.push(Buffer.from(part)),
    onMessage: (message) => messages.push(message),
  });
  const places = [...new Set([0, ...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length])];
  places.sort((a, b) => a - b);
  places.forEach((place, index) => {
    reader.push(bytes.subarray(place, places[index + 1]));
  });
  return { output: Buffer.concat(parts), messages };
}

const cuts = fc.array(fc.nat(), { maxLength: 20 });

describe("FrameReader", () => {
  test("separates messages from output, however the bytes are cut", () => {
    const chunk = fc.uint8Array({ maxLength: 60 });
    fc.assert(
      fc.property(fc.array(fc.tuple(chunk, chunk), { maxLength: 6 }), cuts, (pairs, places) => {
        const bytes = Buffer.concat(
          pairs.flatMap(([output, payload]) => [
            Buffer.from(output),
            marker,
            Buffer.from(`${JSON.stringify({ type: "result", bytes: payload.length })}\n`),
            Buffer.from(payload),
          ]),
        );
        const { output, messages } = readAll(bytes, places);
        expect(output).toEqual(Buffer.concat(pairs.map(([part]) => part)));
        expect(messages.map(({ payload }) => payload)).toEqual(pairs.map(([, part]) => Buffer.from(part)));
      }),
    );
  });

  test("passes on what only looks like a message", () => {
    const fakes = ["{}", "not json", '{"type":"end","bytes":-1}', '{"type":"end","bytes":101}', "[]", "null"];
    fc.assert(
      fc.property(fc.constantFrom(...fakes), cuts, (fake, places) => {
        const bytes = Buffer.concat([Buffer.from("a"), marker, Buffer.from(`${fake}\nb`)]);
        expect(readAll(bytes, places)).toEqual({ output: bytes, messages: [] });
      }),
    );
  });
});

test("plainText() leaves no control character but line ends and tabs", () => {
  expect(plainText("a\u001b[31mred\u001b[0m\u001b]0;title\u0007b\r\nc\rd\u202e")).toBe("aredb\r\nc\nd\ufffd");
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (text) => {
      expect(plainText(`\u001b[${text}`)).not.toMatch(/(?![\t\n\r])\p{Cc}/u);
    }),
  );
});
