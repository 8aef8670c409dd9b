// Loaded into a server before its own code (`--import`), to be asked from outside what the process has used.
process.on("message", (question) => {
  if (question === "cpu") {
    const { user, system } = process.cpuUsage();
    process.send((user + system) / 1000);
  } else {
    globalThis.gc?.();
    process.send(process.memoryUsage.rss());
  }
});
process.channel.unref();
// Not by a signal: so that profiles are written.
process.once("disconnect", () => process.exit());
