import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parse, readTraceContext, toTraceContext } from "./trace-context.ts";

const traceId = "4bf92f3577b34da6a3ce929d0e0e4736";
const spanId = "00f067aa0ba902b7";
const valid = `00-${traceId}-${spanId}-01`;

test("reads the headers of a caller, and writes them again", () => {
  const read = readTraceContext({ traceparent: valid, tracestate: "rojo=1,congo=2" });
  expect(read).toEqual({ traceparent: valid, tracestate: "rojo=1,congo=2" });
  const span = read && parse(read);
  expect(span).toMatchObject({ traceId, spanId, traceFlags: 1, isRemote: true });
  expect(span && toTraceContext(span)).toEqual(read);
});

test("reads a later version, which may have more fields", () => {
  expect(parse({ traceparent: `cc-${traceId}-${spanId}-01-what-comes` })).toMatchObject({ traceId, spanId });
});

describe("hostile headers have no effect", () => {
  test.each([
    ["nothing", ""],
    ["another form", "hello"],
    ["a span without an id", `00-${traceId}-0000000000000000-01`],
    ["a trace without an id", `00-00000000000000000000000000000000-${spanId}-01`],
    ["upper case", valid.toUpperCase()],
    ["the forbidden version", `ff-${traceId}-${spanId}-01`],
    ["more fields than version 00 has", `${valid}-00`],
    ["a line break", `${valid}\r\nx-evil: 1`],
    ["a huge value", `cc-${traceId}-${spanId}-01-${"a".repeat(1_000_000)}`],
    ["two values", `${valid}, ${valid}`],
  ])("%s", (_what, traceparent) => {
    expect(readTraceContext({ traceparent })).toBeUndefined();
  });

  test.each([
    ["huge", "a=".repeat(100_000)],
    ["garbage", "=,=,,\u0000"],
    ["empty", ""],
  ])("a tracestate that is %s is left out", (_what, tracestate) => {
    expect(readTraceContext({ traceparent: valid, tracestate })).toEqual({ traceparent: valid });
  });

  test("any text is refused, or becomes headers that can be sent", () => {
    const digit = fc.constantFrom(...Array.from("0123456789abcdef"));
    const digits = (length: number) => fc.string({ unit: digit, minLength: length, maxLength: length });
    const rest = fc.string({ unit: "binary-ascii", maxLength: 20 });
    const text = fc.oneof(
      fc.string({ unit: "binary-ascii", maxLength: 80 }),
      fc.tuple(digits(2), digits(32), digits(16), digits(2), rest).map((fields) => fields.join("-")),
    );
    fc.assert(
      fc.property(text, fc.string({ unit: "binary-ascii", maxLength: 600 }), (traceparent, tracestate) => {
        const read = readTraceContext({ traceparent, tracestate });
        const span = read && parse(read);
        const written = span && toTraceContext(span);
        if (!written) return read === undefined;
        return Object.values(written).every((value) => /^[\x20-\x7e]{1,512}$/.test(value));
      }),
    );
  });
});
