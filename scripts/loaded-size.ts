// Reports the cost of importing a built package: the modules it loads, and the size of a bundle of its root. Fails if
// that exceeds the budget.
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";
import { budgetOf } from "./budgets.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const [folder = ""] = process.argv.slice(2);
const { name } = JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8")) as { name: string };
const budget = budgetOf(name);

const { modules, builtins } = loadedModules();
hold("modules", modules, budget.modules);
hold("built-in modules", builtins, budget.builtins);
if (budget.bundleBytes !== undefined) hold("bytes in a bundle", await bundleBytes("*"), budget.bundleBytes);
if (budget.toolBundleBytes !== undefined)
  hold("bytes in a bundle of tool()", await bundleBytes("{ tool }"), budget.toolBundleBytes);

function hold(what: string, value: number, limit: number): void {
  console.log(`${name}: ${value} ${what}, of ${limit}`);
  if (value > limit) process.exitCode = 1;
}

/** In a separate process, where nothing else is loaded. */
function loadedModules(): { modules: number; builtins: number } {
  const program = `
    import { registerHooks } from "node:module";
    let modules = 0;
    registerHooks({ load(url, context, next) { if (url.startsWith("file:")) modules++; return next(url, context); } });
    const before = new Set(process.moduleLoadList);
    await import(${JSON.stringify(name)});
    const builtins = process.moduleLoadList.filter((it) => it.startsWith("NativeModule ") && !before.has(it)).length;
    console.log(JSON.stringify({ modules, builtins }));
    process.exit();`;
  const { status, stdout, stderr } = spawnSync(process.execPath, ["--input-type=module", "--eval", program], {
    cwd: root,
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(`${name} cannot be imported:\n${stderr}`);
  return JSON.parse(stdout) as { modules: number; builtins: number };
}

async function bundleBytes(what: string): Promise<number> {
  const entry = "entry";
  const bundle = await rolldown({
    input: entry,
    cwd: root,
    platform: "browser",
    // Substitutes of other runtimes for Node built-ins are not counted.
    external: /^node:/,
    plugins: [
      {
        name: "entry",
        resolveId: (id) => (id === entry ? id : null),
        load: (id) => (id === entry ? `export ${what} from ${JSON.stringify(name)};` : null),
      },
    ],
  });
  const { output } = await bundle.generate({ format: "esm", minify: true });
  await bundle.close();
  return output.reduce((sum, file) => sum + ("code" in file ? Buffer.byteLength(file.code) : 0), 0);
}
