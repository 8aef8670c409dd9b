// Makes the tier that the config names. Each is loaded only if it is used.

import type { Sandbox } from "rondo/sandbox";
import type { SandboxSettings } from "./sandbox-host.ts";

export interface TierSettings extends Pick<SandboxSettings, "kind" | "limits"> {
  /** Where the files of containers are. Default: the tier's. */
  readonly folder?: string | undefined;
}

export async function openTier({ kind, limits, folder }: TierSettings): Promise<Sandbox> {
  if (typeof kind !== "string") return kind;
  const { bwrap } = await import("rondo/sandbox");
  const options = { limits, ...(folder !== undefined && { folder }) };
  return bwrap(options);
}
