// Builds the console into the server's package, unless it is up to date there.
import { createHash } from "node:crypto";
import { existsSync, globSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const source = fileURLToPath(new URL(".", import.meta.url));
const target = fileURLToPath(new URL("../server/console", import.meta.url));

/** Builds it. Several processes may do so at once: the files are put in place together, by one rename. */
export async function buildConsole(): Promise<void> {
  const hash = hashOfSources();
  if (isBuilt(hash)) return;
  const { build } = await import("vite"); // takes a while to load
  const made = mkdtempSync(`${target}-`);
  try {
    await build({
      configFile: join(source, "vite.config.ts"),
      logLevel: "warn",
      build: { outDir: made },
    });
    writeFileSync(join(made, ".stamp"), hash);
    // Another process may have put the same in place meanwhile, and a server may be reading it.
    if (isBuilt(hash)) return rmSync(made, { recursive: true });
    rmSync(target, { recursive: true, force: true });
    renameSync(made, target);
  } catch (error) {
    rmSync(made, { recursive: true, force: true });
    if (!isBuilt(hash)) throw error;
  }
}

function isBuilt(hash: string): boolean {
  const stamp = join(target, ".stamp");
  return existsSync(stamp) && readFileSync(stamp, "utf8") === hash;
}

/** Of all that the result depends on: the sources, and the versions of what is built in. */
function hashOfSources(): string {
  const files = globSync(["package.json", "index.html", "vite.config.ts", "src/**/*.{ts,tsx,css,svg}"], {
    cwd: source,
    exclude: ["**/*.test.ts", "**/testkit/**"],
  });
  const hash = createHash("sha256");
  for (const file of files.toSorted()) hash.update(`${file}\n`).update(readFileSync(join(source, file)));
  return hash.digest("hex");
}
