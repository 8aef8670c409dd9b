// Where containers are kept if nobody says.

import { homedir } from "node:os";
import { join } from "node:path";

export function defaultFolder(): string {
  if (process.getuid?.() === 0) return "/var/lib/rondo/sandbox";
  const state = process.env["XDG_STATE_HOME"];
  return join(state?.startsWith("/") ? state : join(homedir(), ".local/state"), "rondo/sandbox");
}
