// `npm run clients`: installs real clients into clients/node_modules, lets each do a small task against the server and a
// scripted model, and writes the table of docs/compatibility.md. `--only codex` tries one, and only prints.
// Clients have no network but loopback where bubblewrap (`bwrap`) is installed.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { knownClients } from "../clients/known-clients.ts";
import { report } from "../clients/report.ts";
import { type Outcome, tryClient } from "../clients/trial.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const folder = join(root, "clients");
const modules = join(folder, "node_modules");
const page = join(root, "docs/compatibility.md");
const { values } = parseArgs({
  options: { only: { type: "string" }, isolated: { type: "boolean", default: false } },
});
const only = values.only?.toLowerCase();

if (!values.isolated) {
  install();
  const bwrap = ["--dev-bind", "/", "/", "--unshare-net", "--die-with-parent"];
  const canIsolate = spawnSync("bwrap", [...bwrap, "true"]).status === 0;
  if (!canIsolate) console.error("Without bubblewrap, clients can reach the network.");
  const args = ["--conditions=rondo-source", fileURLToPath(import.meta.url), "--isolated"];
  const all = [process.execPath, ...args, ...(only === undefined ? [] : ["--only", only])];
  const [program = "", ...rest] = canIsolate ? ["bwrap", ...bwrap, "--", ...all] : all;
  const { status } = spawnSync(program, rest, { cwd: root, stdio: "inherit" });
  process.exit(status ?? 1);
}

const chosen = knownClients.filter(({ name }) => only === undefined || name.toLowerCase().includes(only));
if (chosen.length === 0)
  throw new Error(`--only is one of ${knownClients.map(({ name }) => name).join(", ")}, not '${only}'.`);
const homes = join(root, ".cache/clients");
mkdirSync(homes, { recursive: true });
const outcomes: Outcome[] = [];
for (const client of chosen)
  for (const api of client.apis) {
    process.stderr.write(`${client.name}, ${api} … `);
    const outcome = await tryClient(client, api, homes, modules);
    outcomes.push(outcome);
    console.error(outcome.problem ?? (outcome.hasThreeTurns ? "done" : "did not do its task"));
  }
rmSync(homes, { recursive: true, force: true });
const { dependencies } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as {
  dependencies: Record<string, string>;
};
const table = report(outcomes, dependencies);
console.log(table);
if (only === undefined) {
  const marks = /(<!-- clients:[^\n]*-->\n)[\s\S]*?(<!-- \/clients -->)/;
  writeFileSync(
    page,
    readFileSync(page, "utf8").replace(
      marks,
      (_, begin: string, end: string) => `${begin}\n${table}\n\n${end}`,
    ),
  );
  console.error("Written to docs/compatibility.md.");
}
process.exit();

function install(): void {
  if (existsSync(modules)) return;
  console.error("Installing the clients, some 1.6 GB …");
  // Without a lockfile: packages for some platforms are not in the registry, and `npm ci` insists on all of them.
  const command = "npm install --no-package-lock --ignore-scripts --no-audit --no-fund --loglevel=error";
  const { status } = spawnSync(command, { cwd: folder, shell: true, stdio: "inherit" });
  if (status !== 0) throw new Error(`The clients could not be installed in ${folder}.`);
}
