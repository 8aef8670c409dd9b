import { expect, test } from "vitest";
import { RecentWarnings } from "./recent-warnings.ts";
import { startScripted } from "./testkit/scripted.ts";
import { plain } from "./testkit/service.ts";

test("parts that are ignored are reported once for each owner, wherever they stand", async () => {
  const warnings: string[] = [];
  const { service } = await startScripted("Done.", { warnings });
  const search = { type: "file_search", vector_store_ids: ["vs_1"] };
  await plain(service, { input: "Go", tools: [search] });
  await plain(service, { input: "Go", tools: [{ type: "function", name: "f" }, search] });
  expect(warnings).toHaveLength(1);
  await plain(service, { input: "Go", tools: [search] }, "bob");
  expect(warnings).toHaveLength(2);
  await plain(service, { input: "Go", tools: [search, { type: "image_generation" }] });
  expect(warnings).toHaveLength(3);
  expect(warnings[2]).toContain("image_generation");
  expect(warnings[2]).not.toContain("file_search");
});

test("warnings are given again after an hour, and few are remembered", () => {
  let time = 0;
  const recent = new RecentWarnings(() => time);
  expect(recent.notYetGiven("ada", ["a", "a"])).toEqual(["a"]);
  time = 3_599_999;
  expect(recent.notYetGiven("ada", ["a"])).toEqual([]);
  time = 3_600_000;
  expect(recent.notYetGiven("ada", ["a"])).toEqual(["a"]);
  for (let at = 0; at < 1000; at += 1) recent.notYetGiven("ada", [`other ${at}`]);
  expect(recent.notYetGiven("ada", ["a"])).toEqual(["a"]);
});
