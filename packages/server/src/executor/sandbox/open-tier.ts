// Makes the tier that the config names. Each is loaded only if it is used.

import type { Sandbox } from "rondo/sandbox";
import type { SandboxSettings } from "./sandbox-host.ts";

export interface TierSettings extends Pick<SandboxSettings, "kind" | "limits"> {
  /** Where the files of containers are. Default: the tier's. */
  readonly folder?: string | undefined;
  /** Where the pods run. */
  readonly kubernetes: Readonly<Record<string, string | undefined>>;
}

export async function openTier({
  kind,
  limits,
  folder,
  kubernetes: cluster,
}: TierSettings): Promise<Sandbox> {
  if (typeof kind !== "string") return kind;
  const { bwrap, kubernetes, runsc } = await import("rondo/sandbox");
  const given = Object.entries(cluster).filter(([, value]) => value !== undefined);
  if (kind === "kubernetes") return kubernetes({ ...Object.fromEntries(given), limits });
  const local = { limits, ...(folder !== undefined && { folder }) };
  if (kind === "runsc") return runsc(local);
  if (kind === "bwrap" || kind === "auto") return bwrap(local);
  // Never another tier than the one that was asked for.
  throw new Error(`There is no sandbox of the kind ${JSON.stringify(kind)}.`);
}
