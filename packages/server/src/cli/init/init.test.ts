import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { FoundServer } from "../../config/discover.ts";
import { packageVersion } from "../../config/package-version.ts";
import { folderWith } from "../../config/testkit/folder.ts";
import { UsageError } from "../cli-io.ts";
import { testIo } from "../testkit/test-io.ts";
import { initCommand } from "./init.ts";

const names = [
  ".gitignore",
  "README.md",
  "agent.test.ts",
  "agent.ts",
  "package.json",
  "rondo.config.ts",
  "tools.ts",
];

async function init(cwd: string, args: readonly string[], found: readonly FoundServer[] = [], env = {}) {
  const io = testIo({ cwd, env });
  await initCommand(io, async () => found).parseAsync(args, { from: "user" });
  return io.out;
}

// test/installed.long.test.ts runs such a project.
test("a project has all its files, in a folder that need not exist", async () => {
  using folder = folderWith();
  const out = await init(folder.path, ["my/agent"]);
  expect(readdirSync(join(folder.path, "my/agent")).toSorted()).toEqual(names);
  expect(out).toContain("The model is the demo model, because no model server was found");
  expect(out).toContain("  cd my/agent\n  npm install\n  node --test\n");
  const { dependencies, type } = JSON.parse(readFileSync(join(folder.path, "my/agent/package.json"), "utf8"));
  expect({ dependencies, type }).toEqual({
    type: "module",
    dependencies: { "@rondo/server": `^${packageVersion()}`, rondo: `^${packageVersion()}` },
  });
});

test.each<[FoundServer, Record<string, string>, string, string]>([
  [
    { kind: "ollama", url: "http://localhost:11434/v1", models: ["nomic-embed-text", "qwen3:8b"] },
    {},
    'createAgent("assistant", ollama("qwen3:8b"))',
    'endpoints: [{ url: "http://localhost:11434/v1" }],\n  defaultModel: "qwen3:8b",',
  ],
  [
    { kind: "vllm", url: "http://gpu:8000/v1", models: ["a"] },
    {},
    'openaiCompatible({ baseURL: "http://gpu:8000/v1", model: "a" })',
    'endpoints: [{ url: "http://gpu:8000/v1" }]',
  ],
  [
    { kind: "other", url: "http://gpu/v1", models: ['"); evil("'] },
    { RONDO_MODEL_URL: "http://gpu/v1", RONDO_MODEL_API_KEY: "secret" },
    String.raw`model: "\"); evil(\"", apiKey: process.env["RONDO_MODEL_API_KEY"] })`,
    'endpoints: [{ url: "http://gpu/v1", apiKey: process.env["RONDO_MODEL_API_KEY"] }]',
  ],
])("the model is one that was found: %#", async (found, env, agent, config) => {
  using folder = folderWith();
  await init(
    folder.path,
    [],
    [{ kind: "lmstudio", url: "http://localhost:1234/v1", models: [] }, found],
    env,
  );
  const read = (name: string) => readFileSync(join(folder.path, name), "utf8");
  expect(read("agent.ts")).toContain(agent);
  expect(read("rondo.config.ts")).toContain(config);
  for (const name of names) expect(read(name)).not.toContain("secret");
});

test("nothing is overwritten, and then nothing is written", async () => {
  using folder = folderWith({ "tools.ts": "mine", "README.md": "mine" });
  const failed = init(folder.path, []);
  await expect(failed).rejects.toThrow(
    `tools.ts, README.md are in ${folder.path} already. Nothing was written`,
  );
  await expect(failed).rejects.toBeInstanceOf(UsageError);
  expect(readdirSync(folder.path).toSorted()).toEqual(["README.md", "tools.ts"]);
});

test("a package.json stays as it is, and has to be one of modules", async () => {
  using folder = folderWith({ "package.json": '{ "type": "commonjs" }' });
  await expect(init(folder.path, [])).rejects.toThrow("Run `npm pkg set type=module` there first");
  expect(existsSync(join(folder.path, "agent.ts"))).toBe(false);
  folder.write("package.json", '{ "type": "module" }');
  expect(await init(folder.path, [])).not.toContain("package.json");
  expect(readFileSync(join(folder.path, "package.json"), "utf8")).toBe('{ "type": "module" }');
});
