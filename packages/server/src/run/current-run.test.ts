import { expect, test } from "vitest";
import { currentRun, inRun, runsAtWork } from "./current-run.ts";

test("each run that works is known until its work ends, in any order", async () => {
  const ends = new Map<string, () => void>();
  const work = (id: string) =>
    inRun(id, async () => {
      await new Promise<void>((resolve) => ends.set(id, resolve));
      return currentRun();
    });
  const runs = new Map(["a", "b", "c", "d"].map((id) => [id, work(id)]));
  expect(runsAtWork().toSorted()).toEqual(["a", "b", "c", "d"]);
  const left = ["a", "b", "c", "d"];
  for (const id of ["b", "d", "a", "c"]) {
    ends.get(id)?.();
    expect(await runs.get(id)).toBe(id);
    left.splice(left.indexOf(id), 1);
    expect(runsAtWork().toSorted()).toEqual(left);
  }
});

test("a run that is entered twice is named once, until both end", async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const outer = inRun("a", () => promise);
  await expect(inRun("a", () => Promise.reject(new Error("failed")))).rejects.toThrow("failed");
  expect(runsAtWork()).toEqual(["a"]);
  resolve();
  await outer;
  expect(runsAtWork()).toEqual([]);
});
