// V8 allocates a function that is assigned directly to a property in the old generation, and so is a getter of an object
// literal. All that it references is then kept until the next full garbage collection: on a busy server, each request.
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseSync, Visitor } from "oxc-parser";
import { expect, test } from "vitest";
import { repoRoot } from "./support/repo.ts";

// They are made once, or for a whole connection.
const exempt =
  /\.test\.|\.test-d\.|\/(?:testkit|testing|cli|check|demo|soak|simulation|conformance)\/|^packages\/rondo\/src\/mcp\//;
// Models: users may spread them, and most live as long as the process.
const longLived = ["model/chat-completions.ts", "model/fallback.ts", "client/fit-to-window.ts"];

/** The lines with such functions. */
function oldFunctions(code: string, path = "x.ts"): number[] {
  const found: number[] = [];
  const note = (start: number) => found.push(code.slice(0, start).split("\n").length);
  const { program } = parseSync(path, code);
  new Visitor({
    AssignmentExpression({ left, right, start }) {
      const isFunction = right.type === "ArrowFunctionExpression" || right.type === "FunctionExpression";
      if (left.type === "MemberExpression" && isFunction) note(start);
    },
    Property({ kind, start }) {
      if (kind === "get") note(start);
    },
  }).visit(program);
  return found;
}

test("such functions are found", () => {
  expect(
    oldFunctions("this.#a = () => 1;\nb.c ??= function () {};\nconst d = { get e() { return 1; } };"),
  ).toEqual([1, 2, 3]);
  expect(
    oldFunctions("const a = () => 1;\nthis.#a = a;\nclass B { get c() { return 1; } #d = () => 1; }"),
  ).toEqual([]);
});

test("no function of a request or a run is allocated in the old generation", () => {
  const files = globSync("packages/{rondo,server}/src/**/*.ts", { cwd: repoRoot }).filter(
    (path) => !exempt.test(path) && !longLived.some((end) => path.endsWith(end)),
  );
  expect(files.length).toBeGreaterThan(300);
  const lines = files.flatMap((path) =>
    oldFunctions(readFileSync(join(repoRoot, path), "utf8"), path).map((line) => `${path}:${line}`),
  );
  expect(lines).toEqual([]);
});
