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
    place(made, hash);
  } catch (error) {
    rmSync(made, { recursive: true, force: true });
    if (!isBuilt(hash)) throw error;
  }
}

/** Puts what was made in place. Other processes may do the same, and a server may be reading what they put there. */
function place(made: string, hash: string): void {
  const old = `${made}-old`;
  let isPlaced = false;
  while (!isPlaced && !isBuilt(hash)) {
    try {
      if (existsSync(target)) renameSync(target, old);
      renameSync(made, target);
      isPlaced = true;
    } catch (error) {
      // Another was quicker with one of the two.
      if (!["ENOENT", "ENOTEMPTY", "EEXIST"].includes((error as NodeJS.ErrnoException).code ?? ""))
        throw error;
    }
    rmSync(old, { recursive: true, force: true });
  }
  rmSync(made, { recursive: true, force: true });
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
