// Faults that a store or a network could have. Each is planted into the simulated ones, never into the product, to show
// that the checker finds it.

export const plantedFaults = {
  "fence ignored": "a write with an old fence is accepted",
  "news before commit": "events are published before they are kept",
  "lease renewed after loss": "a lease that another worker took is renewed",
  "finished call forgotten": "the steps of finished calls are missing when a run is resumed",
  "conversation lock not taken": "a conversation lets several responses run at a time",
  "job outside of the transaction": "a response is kept first and enqueued afterwards",
  "follower skips a gap": "a page of events begins too late",
  "job given twice": "two workers get the same job with one fence",
  "lease timed by the node": "leases expire by the clock of the node that asks",
  "unknown commit repeated": "a commit whose reply was lost is written again",
  "no polling": "lost news are not made up for",
  "dead lease kept": "the lease of a dead node never expires",
} as const;

export type PlantedFault = keyof typeof plantedFaults;
