// The conditions of the measurement: machine, versions and date.
import { readFileSync } from "node:fs";
import { availableParallelism, cpus, loadavg, platform, release, totalmem } from "node:os";
import { pathOf } from "../processes.ts";

export function machine(): string {
  const [load = 0] = loadavg();
  const memory = Math.round(totalmem() / 2 ** 30);
  const cores = availableParallelism();
  return [
    `- ${new Date().toISOString().slice(0, 10)}, ${cpus()[0]?.model.trim() ?? "unknown CPU"}, ${cores} cores, ${memory} GB, ${platform()} ${release()}`,
    `- load average before the start: ${load.toFixed(1)}${load > cores / 2 ? " (other work was running: the ratios are less exact than usual)" : ""}`,
    `- Node ${process.versions.node}; rondo ${versionOf("../packages/rondo/package.json")}, @rondo/server ${versionOf("../packages/server/package.json")}`,
    `- ${Object.entries(peerVersions())
      .map(([name, version]) => `${name} ${version}`)
      .join(", ")}`,
  ].join("\n");
}

function versionOf(manifest: string): string {
  return (JSON.parse(readFileSync(pathOf(manifest), "utf8")) as { version: string }).version;
}

function peerVersions(): Record<string, string> {
  const { dependencies } = JSON.parse(readFileSync(pathOf("peers/package.json"), "utf8")) as {
    dependencies: Record<string, string>;
  };
  return dependencies;
}
