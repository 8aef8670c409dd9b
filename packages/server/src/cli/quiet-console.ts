// Keeps standard output clean where it is for programs: what people's code prints goes to standard error.

import { Console } from "node:console";
import { Writable } from "node:stream";
import type { CliIo } from "./cli-io.ts";

/** Redirects the console. Returns a function that restores it. */
export function quietConsole(io: CliIo): () => void {
  const before = globalThis.console;
  const stream = new Writable({
    decodeStrings: false,
    write(chunk, _encoding, done) {
      io.writeError(String(chunk));
      done();
    },
  });
  globalThis.console = new Console(stream);
  return () => {
    globalThis.console = before;
  };
}
