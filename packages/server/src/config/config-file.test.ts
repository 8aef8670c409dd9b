// The files are loaded by a Node of their own, because a test runner has ways of its own to import.
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test, vi } from "vitest";
import { type Folder, folderWith } from "./testkit/folder.ts";

// Each test starts a Node, which takes its time on a busy machine.
vi.setConfig({ testTimeout: 60_000 });

const program = fileURLToPath(new URL("testkit/print-configs.ts", import.meta.url));
const library = import.meta.resolve("rondo");
const define = new URL("schema.ts", import.meta.url).href;

function load(folder: Folder, cases: Readonly<Record<string, string>>): unknown[] {
  const folders = Object.entries(cases).map(([path, text], index) => {
    folder.write(`${index}/${path}`, text);
    return join(folder.path, String(index));
  });
  const { stdout, stderr } = spawnSync(process.execPath, ["--conditions=rondo-source", program, ...folders], {
    encoding: "utf8",
  });
  expect(stderr.replace(/^.*(?:Warning|trace-warnings).*\n?/gm, "")).toBe("");
  return JSON.parse(stdout) as unknown[];
}

test("a config in code is its default export, in TypeScript and JavaScript", () => {
  using folder = folderWith();
  const text = (types: string) => `
import { tool } from "${library}";
import { defineConfig } from "${define}";
const port${types} = await Promise.resolve(81);
export default defineConfig({ port, tools: [tool("add", "Add.", { a: Number }, ({ a }) => a)] });
`;
  const expected = { port: 81, tools: ["add"] };
  const results = load(folder, {
    "rondo.config.ts": text(": number"),
    "rondo.config.mts": text(": number"),
    "rondo.config.mjs": text(""),
    "rondo.config.js": text(""),
    // Only YAML has variables in it; code can read the environment itself.
    "./rondo.config.js": "export default { port: 81, defaultModel: '$' + '{HOME}' };",
  });
  const plain = { port: 81, tools: [], defaultModel: `\${HOME}` };
  expect(results).toEqual([expected, expected, expected, expected, plain]);
});

test("a broken config in code is reported with its cause", () => {
  using folder = folderWith();
  const results = load(folder, {
    "rondo.config.ts": "export default {\n  a: 1,\n  b b\n};\n",
    "rondo.config.mts": "enum A { x }\nexport default {};\n",
    "rondo.config.mjs": "throw new RangeError('no luck');\n",
    "rondo.config.js": "export const config = {};\n",
    "./rondo.config.ts": "throw 'a text';\n",
    "./rondo.config.mts": "import 'nowhere-to-be-found';\n",
    "./rondo.config.mjs": "export default { prot: 1, port: 'x' };\n",
  });
  const start = "The configuration cannot be used. ";
  expect(results).toEqual([
    {
      message: expect.stringMatching(
        /^The configuration cannot be used\. rondo\.config\.ts: could not be loaded: SyntaxError: .*\(line 3\)$/s,
      ),
      cause: "SyntaxError",
    },
    {
      message: expect.stringMatching(
        /rondo\.config\.mts: could not be loaded: .*enum is not supported.* compile it first\.$/,
      ),
      cause: "SyntaxError",
    },
    { message: `${start}rondo.config.mjs: could not be loaded: RangeError: no luck`, cause: "RangeError" },
    {
      message: `${start}rondo.config.js: has no default export. Write \`export default defineConfig({ … })\`.`,
      cause: false,
    },
    { message: `${start}rondo.config.ts: could not be loaded: it threw a text`, cause: false },
    {
      message: expect.stringContaining("Run `npm install nowhere-to-be-found` in its folder."),
      cause: "Error",
    },
    {
      message: expect.stringMatching(
        /2 problems.*port \(rondo\.config\.mjs\): expected.*Did you mean "port"\?/s,
      ),
      cause: false,
    },
  ]);
});

test("import and export in a CommonJS package are reported with the cause and the fix", () => {
  using folder = folderWith({
    "package.json": '{ "type": "commonjs" }',
    "0/helper.ts": "export const a = 1;\n",
  });
  const manifest = join(folder.path, "package.json");
  const fix = (name: string) =>
    `because ${manifest} has "type": "commonjs". Run \`npm pkg set type=module\` in that folder, or rename the file to ${name}.`;
  const results = load(folder, {
    "rondo.config.mts": "import './helper.ts';\nexport default {};\n",
    "rondo.config.ts": "import 'node:fs';\nexport default {};\n",
    "rondo.config.js": "export default {};\n",
    "./rondo.config.mts": "import './gone.ts';\nexport default {};\n",
  });
  expect(results).toMatchObject([
    { message: expect.stringContaining(fix("helper.mts")) },
    { message: expect.stringContaining(fix("rondo.config.mts")) },
    { message: expect.stringContaining(fix("rondo.config.mjs")) },
    {
      message: expect.stringContaining(
        "rondo.config.mts imports gone.ts, which does not exist. Check the path",
      ),
    },
  ]);
});
