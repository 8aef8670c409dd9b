// Every program of the documentation works in an empty folder with the packed packages, and so do the commands.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { builtinModules } from "node:module";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { expectConsole } from "./support/console.ts";
import { installPackages, serve, type } from "./support/installed.ts";
import { expectToRun } from "./support/programs.ts";
import { repoRoot } from "./support/repo.ts";
import { documentedPrograms } from "./support/snippets.ts";

const programs = documentedPrograms();
let folder = "";

beforeAll(async () => {
  folder = await installPackages([...importedPackages(), ...startedByNpx]);
}, 180_000);

afterAll(() => {
  // Without a folder, as packing failed, this would be the working folder.
  if (folder !== "") rmSync(dirname(folder), { recursive: true, force: true });
});

/** What docs/mcp.md starts with `npx`, which would download it. */
const startedByNpx = ["@modelcontextprotocol/server-everything", ".bin/mcp-server-everything"];

/** The packages that the programs import; those that are installed anyway need no link. */
function importedPackages(): string[] {
  const names = programs.flatMap(({ source }) =>
    [...source.matchAll(/(?:from|import) "((?:@[\w-]+\/)?[a-z][\w.-]*)/g)].map(([, name = ""]) => name),
  );
  return [...new Set(names)].filter((name) => !builtinModules.includes(name) && !name.includes(":"));
}

describe("a program of the documentation runs", { timeout: 120_000 }, () => {
  test.concurrent.for(programs)("$title", async ({ title, file, source }) => {
    const path = join(folder, file);
    writeFileSync(path, source);
    await expectToRun(path, source, title, folder);
  });
});

/** The files of the quick start, by their names. */
function quickStartFiles(): Record<string, string> {
  const page = readFileSync(join(repoRoot, "docs/quick-start.md"), "utf8");
  const files = page.matchAll(/Save this as `([\w.-]+)`.*:\n\n```ts\n([\s\S]*?)^```$/gm);
  return Object.fromEntries([...files].map(([, name, text]) => [name, text]));
}

async function ask(url: string, model: string): Promise<unknown> {
  const reply = await fetch(`${url}/v1/responses`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model, input: "What is 6 * 7?" }),
  });
  const { output } = (await reply.json()) as { output: { type: string; output?: string }[] };
  return output.find((item) => item.type === "mcp_call")?.output;
}

describe("the commands work", { timeout: 120_000 }, () => {
  beforeAll(() => {
    for (const [name, text] of Object.entries(quickStartFiles())) writeFileSync(join(folder, name), text);
  });

  test("rondo chat with the tools of a file", async () => {
    const { stdout, stderr } = await type('npx rondo chat --tools multiply.ts "What is 6 * 7?"', folder);
    expect(stderr).toContain("← multiply 42\n");
    expect(stdout).toContain("42");
  });

  test("rondo serve with a config in TypeScript", async () => {
    await using server = await serve("node_modules/.bin/rondo serve --port 0 --store memory", folder);
    expect(await ask(server.url, "demo")).toBe("42");
    await expectConsole(server.url);
  });

  test("a file that Node reads as CommonJS is reported with the fix", async () => {
    const inside = join(folder, "commonjs");
    mkdirSync(inside);
    writeFileSync(join(inside, "package.json"), '{ "type": "commonjs" }');
    writeFileSync(join(inside, "tools.ts"), quickStartFiles()["multiply.ts"] ?? "");
    const lines = ["chat --tools tools.ts Hi", "run tools.ts", "serve --config tools.ts"];
    for (const line of lines) {
      const { exitCode, stderr } = await type(`../node_modules/.bin/rondo ${line}`, inside);
      expect(exitCode).not.toBe(0);
      expect(stderr).toContain(
        "Run `npm pkg set type=module` in that folder, or rename the file to tools.mts.",
      );
    }
  });
});

test("a new project's test passes, its agent runs, and its config is served", {
  timeout: 120_000,
}, async () => {
  const rondo = join(folder, "node_modules/.bin/rondo");
  const created = await type("npx rondo init project", folder);
  expect(created.stdout).toContain("Next:\n\n  cd project\n  node --test\n");
  const project = join(folder, "project");

  const tested = await type("node --test", project);
  expect(tested.stdout).toContain("pass 1");
  const ran = await type(`${rondo} run agent.ts --input "What is 25 + 17?"`, project);
  expect(ran).toMatchObject({ exitCode: 0, stdout: expect.stringContaining("25 + 17 is 42.") });
  await using server = await serve(`${rondo} serve --port 0 --store memory`, project);
  const reply = await fetch(`${server.url}/v1/models`);
  expect(await reply.json()).toMatchObject({ data: [{ id: "demo" }] });
});
