// `npm run build`: checks the types and writes the declarations, then bundles the packages and builds the console.
// Arguments are projects for `tsc -b`, to check only some.
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { buildConsole } from "../packages/console/build.ts";
import { packages, writeBundle } from "./bundle.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const tsc = join(root, "node_modules/@typescript/native/bin/tsc");
const { status } = spawnSync(process.execPath, [tsc, "-b", ...process.argv.slice(2)], {
  cwd: root,
  stdio: "inherit",
});
if (status === 0) {
  for (const each of packages) await writeBundle(each);
  await buildConsole();
} else process.exitCode = 1;
