// `npm run pack`: builds the packages and packs them into tarballs/, for use without a registry (docs/install.md).
import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { packages } from "./bundle.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const folder = join(root, "tarballs");

execFileSync(process.execPath, [join(root, "scripts/build.ts")], { cwd: root, stdio: "inherit" });
rmSync(folder, { recursive: true, force: true });
mkdirSync(folder);
const names = execFileSync(
  "npm",
  ["pack", "--silent", "--pack-destination", folder, ...packages.map((one) => one.folder)],
  { cwd: root, encoding: "utf8", shell: process.platform === "win32" },
);
const paths = names
  .trim()
  .split("\n")
  .map((name) => join(folder, name));
console.log(`Packed both packages. In your project, which needs "type": "module" (npm pkg set type=module):

  npm install ${paths.join(" ")}`);
