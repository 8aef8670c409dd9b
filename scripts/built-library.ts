// Part of `npm run check`: uses the built library, because the tests use its sources. All parts of the package must
// share the same classes, and tree-shaking for a browser must not drop what is needed.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { rolldown } from "rolldown";

const root = fileURLToPath(new URL("..", import.meta.url));

const library = await import("rondo");
const [demo, testing, mcp] = await Promise.all([
  import("rondo/demo"),
  import("rondo/testing"),
  import("rondo/mcp"),
]);

// `instanceof RondoError` would also hold for the errors of a second copy.
for (const errorClass of [testing.ScriptError, mcp.McpCallError, library.MaxTurnsError])
  assert.equal(Object.getPrototypeOf(errorClass), library.RondoError);
await assert.rejects(
  library.query({ prompt: "Hi", options: { model: testing.scriptedModel([]) } }).result(),
  testing.ScriptError,
);
assert.throws(() => demo.demoModel({ delayMs: -1 }), library.InvalidArgumentError);
assert.equal(createRequire(import.meta.url)("rondo").RondoError, library.RondoError);

assert.equal(
  await inBundle(`
    import { tool } from "rondo";
    const add = tool("add", "Add.", { a: Number, b: Number }, ({ a, b }) => a + b);
    export const result = await add.execute({ a: 25, b: 17 });`),
  42,
);
assert.equal(
  await inBundle(`
    import { Agent } from "rondo";
    import { demoModel } from "rondo/demo";
    const agent = new Agent({ name: "thinker", tools: [], model: demoModel() });
    await agent.ask("What is 25 + 17?");
    let text = "";
    for await (const [, value] of agent.run()) if (value.type === "text") text += value.text;
    export const result = text.includes("42");`),
  true,
);

/** The export `result` of a program, bundled for a browser with tree-shaking. */
async function inBundle(program: string): Promise<unknown> {
  const entry = "entry";
  const bundle = await rolldown({
    input: entry,
    cwd: root,
    platform: "browser",
    plugins: [
      {
        name: "entry",
        resolveId: (id) => (id === entry ? id : null),
        load: (id) => (id === entry ? program : null),
      },
    ],
  });
  const { output } = await bundle.generate({ format: "esm" });
  await bundle.close();
  const folder = mkdtempSync(join(tmpdir(), "rondo-bundle-"));
  try {
    const file = join(folder, "app.mjs");
    writeFileSync(file, output[0].code);
    return (await import(pathToFileURL(file).href)).result;
  } finally {
    rmSync(folder, { recursive: true });
  }
}
