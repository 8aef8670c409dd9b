import { afterEach, expect, test, vi } from "vitest";
import { InvalidTypeError } from "./argument-errors.ts";
import { type Logger, setLogger, warn } from "./logger.ts";

afterEach(() => {
  setLogger();
  vi.restoreAllMocks();
});

function watchConsole() {
  return vi.spyOn(console, "warn").mockImplementation(() => {});
}

test("warnings go to the console by default, and say where they come from", () => {
  const output = watchConsole();
  warn("careful");
  warn("careful", { key: 1 });
  expect(output.mock.calls).toEqual([["rondo: careful"], ["rondo: careful", { key: 1 }]]);
});

test("warnings go to the logger that was set, with their details", () => {
  const output = watchConsole();
  const seen: unknown[] = [];
  setLogger({ warn: (...args) => seen.push(args) });
  warn("careful", { key: 1 });
  expect(seen).toEqual([["careful", { key: 1 }]]);
  expect(output).not.toHaveBeenCalled();
});

test("setLogger() without an argument goes back to the console", () => {
  const output = watchConsole();
  const seen: string[] = [];
  setLogger({ warn: (message) => seen.push(message) });
  setLogger();
  warn("careful");
  expect(seen).toEqual([]);
  expect(output).toHaveBeenCalledExactlyOnceWith("rondo: careful");
});

test("a logger that throws does not stop the run, and the warning is not lost", () => {
  const output = watchConsole();
  setLogger({
    warn: () => {
      throw new Error("disk full");
    },
  });
  expect(() => warn("careful")).not.toThrow();
  expect(output).toHaveBeenCalledExactlyOnceWith("rondo: careful");
});

test("a logger keeps its own `this`", () => {
  class Collector implements Logger {
    readonly seen: string[] = [];
    warn(message: string) {
      this.seen.push(message);
    }
  }
  const collector = new Collector();
  setLogger(collector);
  warn("careful");
  expect(collector.seen).toEqual(["careful"]);
});

test.each([null, {}, { warn: "loud" }, 5])(
  "%o is refused as a logger, and the one before stays",
  (logger) => {
    const seen: string[] = [];
    setLogger({ warn: (message) => seen.push(message) });
    expect(() => setLogger(logger as unknown as Logger)).toThrow(InvalidTypeError);
    warn("careful");
    expect(seen).toEqual(["careful"]);
  },
);
