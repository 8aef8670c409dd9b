import { PassThrough } from "node:stream";
import fc from "fast-check";
import { expect, onTestFinished, test } from "vitest";
import { folderWith } from "../../config/testkit/folder.ts";
import { KeyGate } from "./key-gate.ts";
import { PromptHistory } from "./prompt-history.ts";
import { readPrompt, type Typed } from "./prompt-line.ts";
import { fakeTerminal, keys } from "./testkit/fake-terminal.ts";

/** An input line at a terminal that nobody sees. */
function inputLine() {
  const folder = folderWith();
  const terminal = fakeTerminal();
  const output = new PassThrough().resume();
  const gate = new KeyGate(terminal.input, output);
  onTestFinished(() => {
    gate[Symbol.dispose]();
    folder[Symbol.dispose]();
  });
  const history = new PromptHistory(`${folder.path}/state/rondo/history`);
  return { terminal, gate, history, read: () => readPrompt({ gate, output, history }) };
}

test("reads a line, and the next one that was typed ahead", async () => {
  const { terminal, read } = inputLine();
  terminal.press("one\rtwo\r");
  expect(await read()).toEqual({ prompt: "one" });
  expect(await read()).toEqual({ prompt: "two" });
});

test("skips blank lines", async () => {
  const { terminal, read } = inputLine();
  terminal.press("\r  \r\nword\r");
  expect(await read()).toEqual({ prompt: "word" });
});

test.each([
  ["a paste", `${keys.paste("one\r\ntwo\nthree\n")}!\r`, "one\ntwo\nthree!"],
  ["a backslash at the end", "one\\\rtwo\\\rthree\r", "one\ntwo\nthree"],
  ["Alt-Enter", `one${keys.altEnter}two\r`, "one\ntwo"],
])("%s makes one prompt of several lines", async (_, typed, expected) => {
  const { terminal, read } = inputLine();
  terminal.press(typed);
  expect(await read()).toEqual({ prompt: expected });
});

test("a paste cannot press keys", async () => {
  const { terminal, read } = inputLine();
  terminal.press(`${keys.paste(`a${keys.ctrlC}b${keys.ctrlD}c\u001b[Ad`)}\r`);
  expect(await read()).toEqual({ prompt: "abc[Ad" });
});

test("Ctrl-D leaves, and so does Ctrl-C in an empty line, but not in one with text", async () => {
  const { terminal, read } = inputLine();
  const readings: [string, Typed][] = [
    [keys.ctrlD, "end"],
    [keys.ctrlC, "interrupt"],
    [`half a line${keys.ctrlC}whole\r`, { prompt: "whole" }],
    [`half\\\ra prompt${keys.ctrlC}whole\r`, { prompt: "whole" }],
    [`half\\\r${keys.ctrlC}whole\r`, { prompt: "whole" }],
  ];
  for (const [typed, expected] of readings) {
    const reading = read();
    await new Promise(setImmediate);
    terminal.press(typed);
    expect(await reading).toEqual(expected);
  }
});

test("a hangup ends the input", async () => {
  const { terminal, read } = inputLine();
  const reading = read();
  terminal.hangUp();
  expect(await reading).toBe("end");
});

test("the arrow keys bring back prompts, those of several lines too", async () => {
  const { terminal, read, history } = inputLine();
  for (const prompt of ["first", "one\ntwo", " private", "last"]) history.add(prompt);
  terminal.press(`${keys.up}${keys.up}\r`);
  expect(await read()).toEqual({ prompt: "one\ntwo" });
  terminal.press(`${keys.up}${keys.up}${keys.up}${keys.up}!\r`);
  expect(await read()).toEqual({ prompt: "first!" });
});

test("Ctrl-C while no line is read drops typed-ahead text", async () => {
  const { terminal, gate, read } = inputLine();
  const interrupted = new Promise<void>((resolve) => {
    gate.onInterrupt = resolve;
  });
  terminal.press("dropped");
  terminal.press(keys.ctrlC);
  await interrupted;
  terminal.press("kept\r");
  expect(await read()).toEqual({ prompt: "kept" });
});

test("Ctrl-C pressed twice counts twice, even in one chunk", () => {
  const { terminal, gate } = inputLine();
  let presses = 0;
  gate.onInterrupt = () => {
    presses += 1;
  };
  terminal.press(`${keys.ctrlC}${keys.ctrlC}`);
  terminal.press(keys.paste(keys.ctrlC));
  expect(presses).toBe(2);
});

test("any split of the bytes gives the same prompts", async () => {
  const word = fc.stringMatching(/^[a-zäß漢😀 ]{1,8}$/u).map((text) => `x${text}`);
  const typed = fc.oneof(
    word.map((text) => ({ bytes: `${text}\r`, prompt: text })),
    fc.tuple(word, word).map(([a, b]) => ({ bytes: `${keys.paste(`${a}\n${b}`)}\r`, prompt: `${a}\n${b}` })),
    fc.tuple(word, word).map(([a, b]) => ({ bytes: `${a}\\\r${b}\r`, prompt: `${a}\n${b}` })),
  );
  await fc.assert(
    fc.asyncProperty(
      fc.array(typed, { minLength: 1, maxLength: 4 }),
      fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1 }),
      async (inputs, sizes) => {
        const terminal = fakeTerminal();
        const output = new PassThrough().resume();
        using gate = new KeyGate(terminal.input, output);
        const history = new PromptHistory("/dev/null/none");
        const bytes = Buffer.from(inputs.map((input) => input.bytes).join(""));
        for (let at = 0, turn = 0; at < bytes.length; turn++) {
          const size = sizes[turn % sizes.length] ?? 1;
          terminal.input.push(bytes.subarray(at, at + size));
          at += size;
        }
        for (const { prompt } of inputs)
          expect(await readPrompt({ gate, output, history })).toEqual({ prompt });
      },
    ),
    { numRuns: 50 },
  );
});

test("the terminal is raw while the gate is open, and restored afterwards", () => {
  const terminal = fakeTerminal();
  const output = new PassThrough();
  const gate = new KeyGate(terminal.input, output);
  expect(terminal.isRaw).toBe(true);
  gate[Symbol.dispose]();
  expect(terminal.isRaw).toBe(false);
  expect(terminal.input.listenerCount("data")).toBe(0);
  expect(String(output.read())).toBe("\u001b[?2004h\u001b[?2004l");
});
