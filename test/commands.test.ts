// The commands that the documentation shows exist, with the flags that it gives them, and each page has them all.
import { globSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { describe, expect, test } from "vitest";
import { createProgram } from "../packages/server/src/cli/program.ts";
import { testIo } from "../packages/server/src/cli/testkit/test-io.ts";
import { repoRoot } from "./support/repo.ts";
import { rondoCallsIn, shellLinesIn } from "./support/shell.ts";

type Command = ReturnType<typeof createProgram>;

const read = (document: string) => readFileSync(join(repoRoot, document), "utf8");
const documents = globSync(["*.md", "docs/*.md", "packages/*/README.md"], { cwd: repoRoot }).toSorted();
const calls = documents.flatMap((document) =>
  shellLinesIn(read(document)).flatMap((line) =>
    rondoCallsIn(line).map((args) => ({ args, line: `${document}: ${line}` })),
  ),
);

/** The program with commands that do nothing, and what it says of some arguments. */
function complaintsAbout(args: readonly string[]): string {
  const io = testIo();
  const program = createProgram(io);
  for (const command of leavesOf(program)) command.action(() => {});
  try {
    program.parse(args, { from: "user" });
  } catch (error) {
    // The help and the version leave by an error too.
    const { exitCode } = error as { exitCode?: number };
    if (exitCode !== 0) return io.err || String(error);
  }
  return io.err;
}

function leavesOf(command: Command): Command[] {
  return command.commands.length === 0 ? [command] : command.commands.flatMap(leavesOf);
}

describe("a command in the documentation", () => {
  test("is found", () => {
    const shown = new Set(calls.map(({ args: [name] }) => name));
    const known = createProgram(testIo()).commands.map((command) => command.name());
    expect(known.filter((name) => !shown.has(name))).toEqual([]);
  });

  test.each(calls)("is understood: $line", ({ args }) => {
    expect(complaintsAbout(args)).toBe("");
  });

  test.each([
    ["rondo sing", "unknown command 'sing'"],
    ["npx rondo serve --loud", "unknown option '--loud'"],
    ["RONDO_PORT=0 rondo serve --port", "argument missing"],
    ["echo hi | npx @rondo/server responses show", "missing required argument 'id'"],
    ["rondo responses list --status lost", "Allowed choices are"],
  ])("would not be, if it were wrong: %s", (line, complaint) => {
    const [args = []] = rondoCallsIn(line);
    expect(complaintsAbout(args)).toContain(complaint);
  });
});

describe("the page of", () => {
  const pages = globSync("docs/cli-*.md", { cwd: repoRoot }).toSorted();
  const commands = createProgram(testIo()).commands;

  test.each(commands.map((command) => [command.name(), command] as const))("%s is there", (name) => {
    expect(pages.map((page) => basename(page))).toContain(`cli-${name}.md`);
    expect(read("docs/cli.md")).toContain(`(cli-${name}.md)`);
  });

  test.each(pages)("%s has the flags that there are, and no others", (page) => {
    const name = basename(page, ".md").slice("cli-".length);
    const command = commands.find((one) => one.name() === name);
    expect(command, `there is no command '${name}'`).toBeDefined();
    const flags = (command ? leavesOf(command) : []).flatMap(({ options }) =>
      options.map(({ long }) => long),
    );
    const rows = [...read(page).matchAll(/^\| `(--[a-z-]+)/gm)].map(([, flag]) => flag);
    expect(new Set(rows)).toEqual(new Set(flags));
  });
});

describe("a line of a shell", () => {
  test("is read with quotes, pipes, comments and redirections", () => {
    const markdown = [
      "```sh",
      "A=1 rondo chat \"What is #1?\" | rondo run 'a b.md' > out 2> /dev/null # rondo gone",
      "curl x \\",
      "  -d '{ \"rondo\": 1 }' && npx rondo key",
      "# rondo nothing",
      "```",
      "```text\nrondo nothing\n```",
    ];
    const lines = shellLinesIn(markdown.join("\n"));
    expect(lines).toEqual([
      "A=1 rondo chat \"What is #1?\" | rondo run 'a b.md' > out 2> /dev/null",
      `curl x -d '{ "rondo": 1 }' && npx rondo key`,
    ]);
    expect(lines.map(rondoCallsIn)).toEqual([
      [
        ["chat", "What is #1?"],
        ["run", "a b.md"],
      ],
      [["key"]],
    ]);
  });
});
