// `npm start`: builds what is needed, and serves the models of this machine, or the demo model.
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync } from "node:fs";
import { constants } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const program = join(root, "packages/server/dist/cli/main.js");
const store = join(root, ".cache/rondo.db");

console.log(existsSync(program) ? "Checking the build …" : "Building, only once …");
const { status, stdout, stderr } = spawnSync(
  process.execPath,
  [join(root, "scripts/build.ts"), "packages/server"],
  { cwd: root, encoding: "utf8" },
);
if (status !== 0) {
  console.error(`${stdout}${stderr}\nThe build failed, see above.`);
  process.exit(1);
}

mkdirSync(dirname(store), { recursive: true });
const args = [
  "serve",
  "--free-port",
  "--store",
  `sqlite:${store}`,
  "--log",
  "warn",
  ...process.argv.slice(2),
];
const server = spawn(process.execPath, [program, ...args], { cwd: root, stdio: "inherit" });
// On a terminal Ctrl-C also reaches the server, which decides when to exit; other signals are passed on.
process.on("SIGINT", () => {});
process.on("SIGTERM", () => server.kill("SIGTERM"));
server.on("close", (code, signal) => {
  process.exitCode = code ?? (signal === null ? 1 : 128 + constants.signals[signal]);
  if (code === 1)
    console.error("If another `npm start` runs in this folder, use: npm start -- --store memory");
});
