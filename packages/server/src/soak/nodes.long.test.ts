// Several nodes in real processes, with a real PostgreSQL behind proxies.

import { expect, test } from "vitest";
import { NodeCluster } from "./testkit/node-cluster.ts";
import { runNodesTrial } from "./testkit/nodes-trial.ts";

test("20 failures of three nodes and their database lose nothing and do nothing twice", {
  timeout: 240_000,
}, async () => {
  await using cluster = await NodeCluster.start();
  const { flaws, figures } = await runNodesTrial({ cluster, seed: 3, failures: 20, longMs: 12_000 });
  expect(flaws).toEqual([]);
  // The trial has met what it is for.
  expect(figures["followed"]).toBeGreaterThan(0);
  expect(figures["lostConnections"]).toBeGreaterThan(0);
});
