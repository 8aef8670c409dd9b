// What the stand-in needs of the machine.

import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";

/** Why pods cannot run here; undefined if they can. */
export function whyNoPods(): string | undefined {
  if (!existsSync("/usr/bin/python3")) return "python3 is not installed";
  if (!existsSync("/usr/bin/nsenter")) return "nsenter is not installed";
  const { error, status } = spawnSync("bwrap", ["--unshare-all", "--ro-bind", "/", "/", "true"]);
  if (error) return "bwrap is not installed";
  return status === 0 ? undefined : "bwrap cannot make namespaces";
}

/** Why kubectl cannot try the stand-in; undefined if it can. Before 1.31, it speaks SPDY for exec. */
export function whyNoKubectl(): string | undefined {
  const { error, stdout } = spawnSync("kubectl", ["version", "--client", "--output=json"], {
    encoding: "utf8",
  });
  if (error) return "kubectl is not installed";
  const minor = Number(/"minor": "(\d+)/.exec(stdout)?.[1]);
  return minor >= 31 ? undefined : `kubectl 1.${minor} does not speak WebSocket for exec; 1.31 does`;
}
