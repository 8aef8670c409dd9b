import { expect, test } from "vitest";
import { tempFolder } from "../store/testkit/temp-folder.ts";
import { runKillTrial } from "./testkit/kill-trial.ts";

test("kills at 20 moments lose no event and no call's line of the audit log, run no finished call again, and leave no run without an end", {
  timeout: 240_000,
}, async () => {
  using folder = tempFolder();
  const { flaws, figures } = await runKillTrial({ folder: folder.path, seed: 4, kills: 20 });
  expect(flaws).toEqual([]);
  // The trial has met what it is for.
  expect(figures.followed).toBeGreaterThan(0);
  expect(figures.cutAnswers).toBeGreaterThan(0);
  expect(figures.unknownCalls).toBeGreaterThan(0);
  expect(figures.repeatedCalls).toBeGreaterThan(0);
  expect(figures.foregroundInterrupted).toBeGreaterThan(0);
  expect(figures.unfinishedCalls).toBeGreaterThan(0);
});
