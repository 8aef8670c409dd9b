import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";

const source = fileURLToPath(new URL("..", import.meta.url));
const files = globSync("**/*.css", { cwd: source });

/** The classes by which the rules of a file begin: what is below them is meant only there. */
function firstClasses(file: string): string[] {
  const css = readFileSync(join(source, file), "utf8").replace(/\/\*[\s\S]*?\*\//g, "");
  return [...css.matchAll(/(?:^|[,}{;]\s*)\.([a-z][\w-]*)/g)].flatMap(([, name]) => name ?? []);
}

describe("the styles", () => {
  test("of a page are its own: those of a page that was left stay loaded", () => {
    const shared = new Set(files.filter((file) => /^(?:styles|ui|shell)\//.test(file)).flatMap(firstClasses));
    const owners = new Map<string, Set<string>>();
    for (const file of files)
      for (const name of firstClasses(file)) {
        const [page = ""] = file.split("/");
        owners.set(name, (owners.get(name) ?? new Set()).add(page));
      }
    const clashes = [...owners].filter(([name, pages]) => !shared.has(name) && pages.size > 1);
    expect(clashes.map(([name, pages]) => `${name}: ${[...pages].join(", ")}`)).toEqual([]);
  });

  test("have colours and sizes of type only in the tokens", () => {
    const literal = /#[0-9a-f]{3,8}\b|\b(?:rgb|hsl)a?\(|font-size:\s*\d/i;
    const found = files
      .filter((file) => file !== "styles/tokens.css")
      .flatMap((file) =>
        readFileSync(join(source, file), "utf8")
          .split("\n")
          .flatMap((line) => (literal.test(line) ? [`${file}: ${line.trim()}`] : [])),
      );
    expect(found.filter((line) => !line.endsWith("font-size: 0.9em;"))).toEqual([]);
  });
});
