// Runs `rondo chat` in this process: in a pipe, or at a terminal whose keys the test presses.
import { stripVTControlCharacters } from "node:util";
import { onTestFinished, vi } from "vitest";
import { folderWith } from "../../../config/testkit/folder.ts";
import { runCli } from "../../program.ts";
import { type FakeTerminal, fakeTerminal } from "../../terminal/testkit/fake-terminal.ts";
import { type TestIo, type TestIoOptions, testIo } from "../../testkit/test-io.ts";

/** What a chat in a pipe has led to. */
export interface Chatted {
  readonly exitCode: number;
  readonly out: string;
  readonly err: string;
}

/** Chats in a pipe, with `input` as standard input. */
export async function chatPiped(
  args: readonly string[],
  input = "",
  options: TestIoOptions = {},
): Promise<Chatted> {
  const io = testIo({ input, ...options });
  const exitCode = await runCli(["chat", ...args], io);
  return { exitCode, out: io.out, err: io.err };
}

export interface TerminalChat extends FakeTerminal {
  readonly io: TestIo;
  /** What was drawn so far, without colours. */
  readonly shown: string;
  /** Resolves when the text has been drawn; `times`, if it has to be there more than once. */
  sees(text: string, times?: number): Promise<void>;
  /** Resolves when a prompt can be typed: an empty input line is the last thing that was drawn. */
  isReady(): Promise<void>;
  /** The exit code, when it has ended. */
  readonly ended: Promise<number>;
}

/** Chats at a terminal. Its history is the test's own. */
export function chatInFakeTerminal(args: readonly string[], options: TestIoOptions = {}): TerminalChat {
  const folder = folderWith();
  onTestFinished(() => folder[Symbol.dispose]());
  const terminal = fakeTerminal();
  const io = testIo({
    cwd: folder.path,
    ...options,
    env: { XDG_STATE_HOME: folder.path, ...options.env },
    input: terminal.input,
    output: { isTTY: true, columns: 80 },
    isErrorTerminal: true,
  });
  const shown = () => stripVTControlCharacters(io.out).replaceAll("\r", "");
  const until = (holds: () => boolean, what: string) =>
    vi.waitFor(
      () => {
        if (!holds()) throw new Error(`${what}\n${shown()}`);
      },
      { timeout: 4000, interval: 5 },
    );
  return {
    input: terminal.input,
    press: (keys) => terminal.press(keys),
    hangUp: () => terminal.hangUp(),
    get isRaw() {
      return terminal.isRaw;
    },
    io,
    get shown() {
      return shown();
    },
    sees: (text, times = 1) => until(() => shown().split(text).length > times, `Not shown: ${text}`),
    isReady: () => until(() => /(^|\n)> $/.test(shown()), "No input line:"),
    ended: runCli(["chat", ...args], io),
  };
}
