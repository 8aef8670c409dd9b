#!/usr/bin/env node
// The command `rondo`. Imports nothing before it is clear that this Node can run it.

const oldest = 24;
const found = process.versions.node;

if (Number.parseInt(found, 10) < oldest) {
  console.error(`Rondo needs Node ${oldest} or newer, but this is Node ${found} (${process.execPath}).`);
  console.error("Install a newer one from https://nodejs.org or with your version manager, and try again.");
  process.exitCode = 1;
} else {
  const args = process.argv.slice(2);
  // First: it may begin this program anew.
  if (args[0] === "serve" || args[0] === "worker") {
    (await import("./v8-flags.ts")).tuneForServing();
    (await import("./release-memory.ts")).releaseMemoryAfterPeaks();
  }
  const typed = ["rondo", ...args].join(" ");
  // `ps` shows to everyone on the machine what was typed.
  if (typed.includes("://")) process.title = (await import("../store/store-label.ts")).hidePasswords(typed);
  const [{ runCli }, { processIo }] = await Promise.all([import("./program.ts"), import("./cli-io.ts")]);
  process.exitCode = await runCli(args, processIo());
  // Handles that are still open must not keep the process alive.
  setTimeout(() => process.exit(), 1000).unref();
}
