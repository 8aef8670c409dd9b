import fc from "fast-check";
import { expect, test } from "vitest";
import { citationsIn } from "./citations.ts";
import { fileId } from "./container-files.ts";

const paths = ["plot.png", "out/deep.csv", "my file.txt", "a.tar.gz"];
/** The texts that are cited, by the names of their files. */
const cited = (text: string, files = paths) =>
  citationsIn(text, "cntr_1", files).map(({ filename, start_index, end_index }) => [
    filename,
    Array.from(text).slice(start_index, end_index).join(""),
  ]);

test.each([
  ["See [it](sandbox:/mnt/data/plot.png).", [["plot.png", "sandbox:/mnt/data/plot.png"]]],
  ["It is in /mnt/data/plot.png.", [["plot.png", "/mnt/data/plot.png"]]],
  ["`/mnt/data/out/deep.csv` has it", [["deep.csv", "/mnt/data/out/deep.csv"]]],
  ["[f](sandbox:/mnt/data/my file.txt)", [["my file.txt", "sandbox:/mnt/data/my file.txt"]]],
  ["[f](sandbox:/mnt/data/my%20file.txt)", [["my file.txt", "sandbox:/mnt/data/my%20file.txt"]]],
  ["📈 I made plot.png, and plot.png again", [["plot.png", "plot.png"]]],
  [
    "Look at deep.csv and a.tar.gz!",
    [
      ["deep.csv", "deep.csv"],
      ["a.tar.gz", "a.tar.gz"],
    ],
  ],
  ["/mnt/data/other.png, https://x.org/plot.png, myplot.png, /mnt/data/../plot.png", []],
])("%s", (text, expected) => {
  expect(cited(text)).toEqual(expected);
});

test("ids are those of the container's files, and a text without files costs nothing", () => {
  expect(citationsIn("plot.png", "cntr_1", paths)).toMatchObject([
    { type: "container_file_citation", container_id: "cntr_1", file_id: fileId("cntr_1", "plot.png") },
  ]);
  expect(fileId("cntr_2", "plot.png")).not.toBe(fileId("cntr_1", "plot.png"));
  expect(citationsIn("plot.png", "cntr_1", [])).toEqual([]);
});

test("whatever a text says, only files that are there are cited, each once, at places in the text", () => {
  const words = fc.constantFrom(
    "/mnt/data/",
    "sandbox:",
    "plot.png",
    "(",
    ")",
    ".",
    "/",
    "%",
    "%zz",
    "..",
    " ",
    "😀",
  );
  fc.assert(
    fc.property(fc.array(words, { maxLength: 40 }), (parts) => {
      const text = parts.join("");
      const found = citationsIn(text, "cntr_1", paths);
      expect(new Set(found.map(({ file_id }) => file_id)).size).toBe(found.length);
      const length = Array.from(text).length;
      for (const { filename, start_index: start, end_index: end } of found) {
        expect(paths).toContain(filename);
        expect([start >= 0, start < end, end <= length]).toEqual([true, true, true]);
      }
    }),
  );
});

test("a long text of almost-mentions is read in linear time", () => {
  const text = "sandbox:/mnt/data/".repeat(60_000) + "a.".repeat(200_000) + "(/mnt/data/".repeat(50_000);
  expect(citationsIn(text, "cntr_1", paths)).toEqual([]);
}, 5000);
