import { PassThrough } from "node:stream";
import fc from "fast-check";
import { expect, test, vi } from "vitest";
import { LineWriter } from "./lines.ts";
import { startSpinner } from "./spinner.ts";
import { createStyle, hasColours } from "./style.ts";
import { oneLine, widthOf, withoutControls } from "./text.ts";

test("removes everything that could drive a terminal, and nothing else", () => {
  expect(withoutControls("a\u001b[31mb\u0007\u009bc\r\n\td\u007f é漢😀")).toBe("a[31mbc\n\td é漢😀");
});

test("a text is truncated to the width, whatever the width of its characters", () => {
  expect(oneLine("  one\n  two\t three ", 40)).toBe("one two three");
  expect(oneLine("abcdef", 6)).toBe("abcdef");
  expect(oneLine("abcdefg", 6)).toBe("abcde…");
  expect(oneLine("漢字漢字", 6)).toBe("漢字…");
  fc.assert(
    fc.property(
      fc.string({ unit: "grapheme", maxLength: 500 }),
      fc.integer({ min: 2, max: 60 }),
      (text, columns) => {
        const line = oneLine(text, columns);
        expect(widthOf(line)).toBeLessThanOrEqual(columns);
        expect(line).not.toMatch(/[\r\n\t]/);
      },
    ),
  );
});

test("there are colours only on a terminal that has them, and not with NO_COLOR", () => {
  expect(hasColours(true, {})).toBe(true);
  expect(hasColours(true, { NO_COLOR: "" })).toBe(true);
  expect(hasColours(true, { NO_COLOR: "1" })).toBe(false);
  expect(hasColours(true, { TERM: "dumb" })).toBe(false);
  expect(hasColours(false, {})).toBe(false);
  expect(createStyle(true).dim("x")).toBe("\u001b[2mx\u001b[22m");
  expect(createStyle(false).dim("x")).toBe("x");
});

test("writers that share a terminal do not write into each other's lines", () => {
  let shown = "";
  const write = (text: string) => {
    shown += text;
  };
  const cursor = { isAtStart: true };
  const [one, two] = [new LineWriter(write, cursor), new LineWriter(write, cursor)];
  one.write("a");
  two.line("b", (text) => `<${text}>`);
  one.endLine();
  one.write("c\n");
  two.line("d");
  expect(shown).toBe("a\n<b>\nc\nd\n");
});

test("a spinner does not show for short waits, and leaves nothing behind", () => {
  vi.useFakeTimers();
  try {
    const output = new PassThrough({ encoding: "utf8" });
    const start = () => startSpinner({ write: (text) => void output.write(text), text: "waiting" });
    start()();
    vi.advanceTimersByTime(1000);
    expect(output.read()).toBe(null);
    const stop = start();
    vi.advanceTimersByTime(300);
    stop();
    stop();
    vi.advanceTimersByTime(1000);
    expect(output.read()).toBe("\r⠋ waiting\r⠙ waiting\r\u001b[K");
  } finally {
    vi.useRealTimers();
  }
});
