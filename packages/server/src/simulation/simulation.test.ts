// Several nodes in one process, on a virtual clock: the real service against a simulated database and network. A seed
// that fails is repeated by SIMULATION_SEED=<seed> npx vitest run packages/server/src/simulation.

import { describe, expect, test } from "vitest";
import { type PlantedFault, plantedFaults } from "./testkit/planted-faults.ts";
import { type SimulationReport, simulate } from "./testkit/simulate.ts";

const { SIMULATION_SEED: only } = process.env;
const seeds = only === undefined ? Array.from({ length: 100 }, (_, index) => index + 1) : [Number(only)];

/** A planted fault must be found with so many. */
const mostSeeds = 100;

/** What the checker says about each planted fault. */
const complaints: Record<PlantedFault, RegExp> = {
  "fence ignored": /a write with the fence \d+ was accepted, but \d+ is the newest/,
  "news before commit": /a reader got another event|a reader got the event/,
  "lease renewed after loss": /the lease \d+ was renewed, but \d+ is the newest/,
  "finished call forgotten": /ran \d+ times|ran again, \d+ ms after its result was kept/,
  "conversation lock not taken": /its responses are in the order|was told after/,
  "job outside of the transaction": /never ended, and is queued/,
  "follower skips a gap": /a reader got the event \d+ instead of/,
  "job given twice": /was leased to .* while .* held it|was leased with the fence/,
  "lease timed by the node": /was leased to .* while .* held it/,
  "unknown commit repeated": /expected sequence_number|log: event/,
  "no polling": /a reader got its end \d+ ms late/,
  "dead lease kept": /clients and \d+ responses wait/,
};

test(`${seeds.length} schedules of failures lose nothing and do nothing twice`, {
  timeout: 120_000,
}, async () => {
  const totals = { takeOvers: 0, refusedWrites: 0, unknownOutcomes: 0, reconnects: 0 };
  for (const seed of seeds) {
    const { flaws, figures, lines } = await simulate(seed);
    expect(flaws, `SIMULATION_SEED=${seed}\n${lines.slice(-200).join("\n")}`).toEqual([]);
    for (const name of Object.keys(totals) as (keyof typeof totals)[]) totals[name] += figures[name];
  }
  // The schedules have met what they are for.
  const isMissing = Object.values(totals).includes(0) && only === undefined;
  expect({ isMissing, ...totals }).toMatchObject({ isMissing: false });
});

test("a seed gives the same history again", async () => {
  const facts = ({ trace, lines, figures }: SimulationReport) => ({ trace, lines, figures });
  expect(facts(await simulate(42))).toEqual(facts(await simulate(42)));
});

describe("a planted fault is found", () => {
  test.each(Object.keys(plantedFaults) as PlantedFault[])("%s", { timeout: 60_000 }, async (fault) => {
    let found: string | undefined;
    for (let seed = 1; seed <= mostSeeds && found === undefined; seed++) {
      const { flaws } = await simulate(seed, [fault]);
      found = flaws.find((flaw) => complaints[fault].test(flaw));
    }
    expect(found, `${plantedFaults[fault]}, and ${mostSeeds} seeds did not show it`).toBeDefined();
  });
});
