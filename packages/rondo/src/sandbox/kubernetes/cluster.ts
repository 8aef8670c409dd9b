// The connection of the tier to a cluster. Its types need the peer, so that no public declaration may mention it.

import type { KubeConfig } from "@kubernetes/client-node";
import type { Holder } from "./holders.ts";
import type { KubeApi } from "./kube-api.ts";
import type { PodSettings } from "./pod-spec.ts";

/** The connection to a cluster. */
export interface Cluster {
  readonly client: typeof import("@kubernetes/client-node");
  readonly config: KubeConfig;
  readonly api: KubeApi;
  readonly settings: PodSettings;
  /** What makes containers: claims first, if there are any. */
  readonly holders: readonly Holder[];
}
