import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";
import { startFlags } from "./v8-flags.ts";

const [module, flagsModule] = ["release-memory.ts", "v8-flags.ts"].map((file) =>
  JSON.stringify(new URL(file, import.meta.url).href),
);

/** V8 itself may save memory once, 8 s after a collection. */
const beforeV8Ms = 7000;

const work = {
  quiet: "await wait(50);",
  // It survives the young generation, so that full collections are due.
  busy: "for (let i = 0; i < 100; i++) kept[count++ % 1000] = data(); await wait(0);",
};

/**
 * Has a peak of some megabytes, then works in this way for `forMs`, or until it has given back half of them. Gives the
 * peak, and the least that it had afterwards.
 */
function residentAfterPeak(
  megabytes: number,
  { afterwards, forMs, flags = startFlags }: { afterwards: string; forMs: number; flags?: readonly string[] },
) {
  const program = `
    import { releaseMemoryAfterPeaks } from ${module};
    import { tuneForServing } from ${flagsModule};
    tuneForServing();
    releaseMemoryAfterPeaks({ startMs: 50, checkMs: 50 });
    const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
    const resident = () => process.memoryUsage.rss() / 1e6;
    const data = () => Array.from({ length: 1000 }, (_, index) => ({ index }));
    await wait(300);
    let kept = [];
    let count = 0;
    const before = resident();
    while (resident() < before + ${megabytes}) kept.push(data());
    const peak = resident();
    kept = [];
    const end = Date.now() + ${forMs};
    let least = peak;
    while (Date.now() < end && least > peak - ${megabytes / 2}) {
      ${afterwards}
      least = Math.min(least, resident());
    }
    console.log(JSON.stringify({ peak, least }));
    process.exit();`;
  const { stdout, stderr } = spawnSync(
    process.execPath,
    [...flags, "--input-type=module", "--eval", program],
    { encoding: "utf8" },
  );
  expect(stderr).toBe("");
  return JSON.parse(stdout) as { peak: number; least: number };
}

test.each([
  ["quiet", 160],
  ["quiet", 400],
  ["busy", 160],
] as const)("a %s process returns the memory of a peak of %i MB", (state, megabytes) => {
  const { peak, least } = residentAfterPeak(megabytes, { afterwards: work[state], forMs: beforeV8Ms });
  expect(least).toBeLessThanOrEqual(peak - megabytes / 2);
});

test("a process whose flags somebody else chose is left alone", () => {
  const flags = ["--max-semi-space-size=64"];
  const { peak, least } = residentAfterPeak(400, { afterwards: work.quiet, forMs: 1500, flags });
  expect(least).toBeGreaterThan(peak - 200);
});
