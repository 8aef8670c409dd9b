import { expect, test } from "vitest";
import { tempFolder } from "../store/testkit/temp-folder.ts";
import { runLoad } from "./testkit/load.ts";
import { startMeasuredServer } from "./testkit/start-measured-server.ts";
import { startStoryModel } from "./testkit/story-model.ts";

const count = 100;
/** Two rounds may leave so much behind: far less than a single forgotten object of a run and its history. */
const mostBytes = 2 * count * 2000;

test("100 streams at once are all answered, and leave no memory behind", { timeout: 240_000 }, async () => {
  using folder = tempFolder();
  await using model = await startStoryModel();
  await using server = await startMeasuredServer({ folder: folder.path, modelUrl: model.url });
  const flaws: string[] = [];
  const growthOfTwoRounds = async () => {
    const before = await server.measure();
    await round();
    await round();
    return (await server.measure()).usedBytes - before.usedBytes;
  };
  const round = async () => {
    const report = await runLoad({ url: server.url, model, count });
    flaws.push(...report.flaws);
  };
  // What is made once, such as compiled code, is no leak.
  await round();
  await round();

  expect(await growthOfTwoRounds()).toBeLessThan(mostBytes);
  expect(flaws).toEqual([]);

  // The limit is a real one: a tool that keeps its contexts would not stay below it.
  server.leak();
  expect(await growthOfTwoRounds()).toBeGreaterThan(mostBytes);
});
