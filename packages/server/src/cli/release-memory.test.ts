import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";

const module = JSON.stringify(new URL("release-memory.ts", import.meta.url).href);

/** Has a peak of 200 MB, then does `afterwards` all the time. Reports the peak, and what is left when it is less or time is up. */
function residentAfterPeak(watch: string, afterwards: string) {
  const program = `
    import { releaseMemoryAfterPeaks } from ${module};
    ${watch}
    const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
    const resident = () => process.memoryUsage.rss() / 1e6;
    const data = () => Array.from({ length: 1000 }, (_, index) => ({ index }));
    await wait(300);
    let kept = [];
    while (kept.length < 4000) kept.push(data());
    const peak = resident();
    kept = [];
    const end = Date.now() + 15_000;
    let least = peak;
    while (Date.now() < end && least > peak - 80) {
      ${afterwards}
      least = Math.min(least, resident());
    }
    console.log(JSON.stringify({ peak, least }));
    process.exit();`;
  const { stdout, stderr } = spawnSync(
    process.execPath,
    ["--max-semi-space-size=16", "--input-type=module", "--eval", program],
    { encoding: "utf8" },
  );
  expect(stderr).toBe("");
  return JSON.parse(stdout) as { peak: number; least: number };
}

const watch = "releaseMemoryAfterPeaks({ startMs: 50, checkMs: 100 });";
const work = {
  quiet: "await wait(50);",
  // Part of it survives the young generation, so that full collections are due.
  busy: "for (let i = 0; i < 100; i++) kept[i % 200] = data(); await wait(0);",
};

test.each(["quiet", "busy"] as const)("a %s process returns the memory of a peak", (state) => {
  const { peak, least } = residentAfterPeak(watch, work[state]);
  expect(least).toBeLessThan(peak - 80);
});
