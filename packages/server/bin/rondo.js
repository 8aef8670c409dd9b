#!/usr/bin/env node
// What npm links as `rondo`. It is no part of the build, as npm links only what is there when it installs, and
// a fresh clone is built after that.
import { existsSync } from "node:fs";

const program = new URL("../dist/cli/main.js", import.meta.url);

if (existsSync(program)) {
  await import(program.href);
} else {
  console.error(
    "The command rondo is not built yet. Run `npm start` or `npm run build` in the clone, and try again.",
  );
  process.exitCode = 1;
}
