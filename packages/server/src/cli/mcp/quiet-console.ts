// Over stdio, standard output belongs to the protocol: what tools print goes to standard error.

import { Console } from "node:console";
import { Writable } from "node:stream";

const methods = ["log", "info", "debug", "table", "dir", "group", "time", "timeEnd", "count"] as const;

/** Turns the console's printing aside. Returns how to turn it back. */
export function quietConsole(writeError: (text: string) => void): () => void {
  const stream = new Writable({
    decodeStrings: false,
    write(chunk, _encoding, done) {
      writeError(String(chunk));
      done();
    },
  });
  const aside = new Console(stream);
  const before = methods.map((method) => [method, console[method]] as const);
  for (const method of methods) Object.assign(console, { [method]: aside[method].bind(aside) });
  return () => Object.assign(console, Object.fromEntries(before));
}
