// Brings packages of the registry into a cache of their own, so that `npm ci` does not have to.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const cache = fileURLToPath(new URL("../../.cache/runtimes", import.meta.url));

/** The `node_modules` with a package, by its exact version. Throws if it cannot be installed. */
export function install(name: string, version: string): string {
  const folder = join(cache, `${name}@${version}`);
  const done = join(folder, "installed");
  if (!existsSync(done)) {
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "package.json"), '{ "private": true }\n');
    // Without scripts: the binaries are in packages of their own.
    const args = `install --silent --no-audit --no-fund --ignore-scripts ${name}@${version}`;
    const { status, stdout, stderr } = spawnSync(`npm ${args}`, {
      cwd: folder,
      shell: true,
      encoding: "utf8",
    });
    if (status !== 0)
      throw new Error(`npm could not install ${name}@${version}. ${`${stdout}${stderr}`.trim()}`);
    writeFileSync(done, "");
  }
  return join(folder, "node_modules");
}
