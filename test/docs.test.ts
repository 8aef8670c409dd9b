// The documentation lists every error, and its links work.
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as rondo from "rondo";
import * as budget from "rondo/budget";
import * as errors from "rondo/errors";
import * as mcp from "rondo/mcp";
import * as sandbox from "rondo/sandbox";
import * as testing from "rondo/testing";
import { describe, expect, test } from "vitest";
import { brokenLinks } from "./support/links.ts";
import { repoRoot } from "./support/repo.ts";

type ErrorClass = abstract new (...args: never) => Error;

const errorClasses = [rondo, errors, budget, mcp, sandbox, testing]
  .flatMap((entry): unknown[] => Object.values(entry))
  .filter((value): value is ErrorClass => typeof value === "function" && value.prototype instanceof Error)
  .filter((value, index, all) => all.indexOf(value) === index);
const lines = readFileSync(join(repoRoot, "docs/errors.md"), "utf8").split("\n");

/** The code is an instance field, so it can only be read from the source of the class. */
const codeOf = (errorClass: ErrorClass) => /\bcode = "(\w+)"/.exec(String(errorClass))?.[1];

describe("docs/errors.md", () => {
  test.each(errorClasses.map((errorClass) => [errorClass.name, errorClass] as const))(
    "names %s with its code",
    (name, errorClass) => {
      const code = codeOf(errorClass);
      const isGroup = errorClasses.some((other) => other.prototype instanceof errorClass);
      // `instanceof RondoError` looks for a brand, so that even errors that extend TypeError are below it.
      expect(code === undefined, `${name} has the code ${code}`).toBe(isGroup);
      const wanted = [name, code].filter((word) => word !== undefined).map((word) => `\`${word}\``);
      const found = lines.find((line) => wanted.every((word) => line.includes(word)));
      expect(found, `no line has ${wanted.join(" and ")}`).toBeDefined();
    },
  );

  test("has rows only for errors of the library", () => {
    const rows = lines.flatMap((line) => {
      const [, name, code] = /^\| `(\w+)`.*? \| `(\w+)` \|/.exec(line) ?? [];
      return name === undefined ? [] : [`${name} ${code}`];
    });
    const known = new Set(errorClasses.map((errorClass) => `${errorClass.name} ${codeOf(errorClass)}`));
    expect(rows).not.toEqual([]);
    expect(rows.filter((row) => !known.has(row))).toEqual([]);
  });
});

describe("the links", () => {
  const documents = globSync(["*.md", "docs/**/*.md", "packages/*/README.md", "test/**/*.md"], {
    cwd: repoRoot,
  }).toSorted();

  test.each(documents)("of %s lead to files and headings", (document) => {
    expect(brokenLinks(document, repoRoot)).toEqual([]);
  });

  test("of a document are reported if, and only if, they are broken", () => {
    const folder = mkdtempSync(join(tmpdir(), "rondo-links-"));
    try {
      const text = [
        "# A `b()` c, d",
        "## Twice\n## Twice",
        "[1](#a-b-c-d) [2](#twice-1) [3](b.md) [4](https://example.com/#x) `[5](gone.md)`",
        "```md\n[6](gone.md)\n# Not a heading\n```",
        "[7](gone.md) [8](#twice-2) [9](#not-a-heading) [`10`](b.md#a)",
      ];
      writeFileSync(join(folder, "a.md"), text.join("\n"));
      writeFileSync(join(folder, "b.md"), "# B\n");
      expect(brokenLinks("a.md", folder)).toEqual([
        "a.md:9 links to gone.md, but there is no gone.md.",
        "a.md:9 links to #twice-2, but a.md has no such heading.",
        "a.md:9 links to #not-a-heading, but a.md has no such heading.",
        "a.md:9 links to b.md#a, but b.md has no such heading.",
      ]);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
