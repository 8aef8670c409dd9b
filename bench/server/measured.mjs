// Preloaded into a server (`--import`), to report the resources that the process used.
process.on("message", (question) => {
  if (question === "cpu") {
    const { user, system } = process.cpuUsage();
    process.send((user + system) / 1000);
  } else {
    // The only kind that also returns the pages to the system that V8 keeps for the next time.
    if (question === "memory") globalThis.gc?.({ type: "major", execution: "sync", flavor: "last-resort" });
    process.send(process.memoryUsage.rss());
  }
});
process.channel.unref();
// Not with a signal, so that profiles are written.
process.once("disconnect", () => process.exit());
