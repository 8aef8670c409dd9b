// A world for a command without a process of its own: what it writes is kept, and stopping is a call.
import type { CliIo } from "../cli-io.ts";

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

export function testIo(options: Partial<Pick<CliIo, "env" | "cwd">> = {}): TestIo {
  const listeners = new Set<() => void>();
  const written = Promise.withResolvers<void>();
  const exitCodes: number[] = [];
  let out = "";
  let err = "";
  return {
    env: {},
    cwd: "/",
    ...options,
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
    write(text) {
      out += text;
      written.resolve();
    },
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
