// The commands in the documentation exist, with their flags, and each command's page has all its flags.
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
const commandLines = documents.flatMap((document) =>
  shellLinesIn(read(document)).flatMap((line) =>
    rondoCallsIn(line).map((args) => ({ args, line: `${document}: ${line}` })),
  ),
);

/** The errors of the program for some arguments; its commands do nothing. */
function complaintsAbout(args: readonly string[]): string {
  const io = testIo();
  const program = createProgram(io);
  for (const command of leavesOf(program)) command.action(() => {});
  try {
    program.parse(args, { from: "user" });
  } catch (error) {
    // Help and version also exit by an error.
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
    const shown = new Set(commandLines.map(({ args: [name] }) => name));
    const known = createProgram(testIo()).commands.map((command) => command.name());
    expect(known.filter((name) => !shown.has(name))).toEqual([]);
  });

  test.each(commandLines)("is valid: $line", ({ args }) => {
    expect(complaintsAbout(args)).toBe("");
  });

  test.each([
    ["rondo sing", "unknown command 'sing'"],
    ["npx rondo serve --loud", "unknown option '--loud'"],
    ["RONDO_PORT=0 rondo serve --port", "argument missing"],
    ["echo hi | npx @rondo/server responses show", "missing required argument 'id'"],
    ["rondo responses list --status lost", "Allowed choices are"],
  ])("is reported if it is invalid: %s", (line, complaint) => {
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

  test.each(pages)("%s has exactly the existing flags", (page) => {
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

describe("a shell line", () => {
  test("is parsed with quotes, pipes, comments and redirections", () => {
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
