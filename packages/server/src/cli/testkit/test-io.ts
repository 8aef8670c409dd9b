// A world for a command without a process of its own: what it writes is kept, and stopping is a call.
import { Readable, Writable } from "node:stream";
import type { CliIo, InputStream, OutputStream } from "../cli-io.ts";

export interface TestIo extends CliIo {
  readonly out: string;
  readonly err: string;
  readonly exitCodes: readonly number[];
  /** How many wait for the wish to stop. */
  readonly listenerCount: number;
  /** What Ctrl-C does. */
  stop(): void;
  /** Resolves as soon as something was written to standard output. */
  readonly written: Promise<void>;
}

export interface TestIoOptions extends Partial<Pick<CliIo, "env" | "cwd" | "isErrorTerminal">> {
  /** Default: nothing, and its end. Text is piped in. */
  input?: InputStream | string;
  /** Default: a pipe. What is written to it is part of `out` too. */
  output?: { isTTY: boolean; columns?: number };
}

export function testIo({ input = "", output: screen, ...options }: TestIoOptions = {}): TestIo {
  const listeners = new Set<() => void>();
  const written = Promise.withResolvers<void>();
  const exitCodes: number[] = [];
  let out = "";
  let err = "";
  const write = (text: string) => {
    out += text;
    written.resolve();
  };
  const output: OutputStream = new Writable({
    decodeStrings: false,
    write(chunk, _encoding, done) {
      write(String(chunk));
      done();
    },
  });
  return {
    env: {},
    cwd: "/",
    isErrorTerminal: false,
    ...options,
    input: typeof input === "string" ? Readable.from(input === "" ? [] : [input]) : input,
    output: Object.assign(output, screen),
    written: written.promise,
    exitCodes,
    get out() {
      return out;
    },
    get err() {
      return err;
    },
    get listenerCount() {
      return listeners.size;
    },
    write,
    writeError(text) {
      err += text;
    },
    onStop(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    leave: (exitCode) => void exitCodes.push(exitCode),
    stop() {
      for (const listener of listeners) listener();
    },
  };
}
