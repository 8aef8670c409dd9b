// `npm run quirks`: prints the quirks of model servers, and whether Rondo parses them correctly. The cases are data
// in test/quirks/cases, and also tests. With `--peers` other clients get the same streams; with `--show` each case has
// what came in and what was read. Words select the cases that have them in their names.
import { parseArgs, styleText } from "node:util";
import { setLogger } from "rondo";
import { quirks } from "../test/quirks/cases/all.ts";
import type { Outcome } from "../test/quirks/outcome.ts";
import { startPeers } from "../test/quirks/peer-runner.ts";
import { quirkClasses } from "../test/quirks/quirk-case.ts";
import { runWithRondo } from "../test/quirks/rondo-runner.ts";
import { type CaseRunner, runCase } from "../test/quirks/run-case.ts";
import { showCase } from "../test/quirks/show-case.ts";

const { values, positionals: words } = parseArgs({
  options: { peers: { type: "boolean" }, details: { type: "boolean" }, show: { type: "boolean" } },
  allowPositionals: true,
});
const nameWidth = 62;

setLogger({ warn: () => {} });
using peers = values.peers ? await startPeers() : undefined;
let outcome: Outcome | undefined;
const runAndKeep: CaseRunner = async (quirk, url) => {
  outcome = await runWithRondo(quirk, url);
  return outcome;
};
const clients = new Map<string, CaseRunner>([["rondo", runAndKeep], ...(peers?.runners ?? [])]);
const passed = new Map([...clients.keys()].map((name) => [name, 0]));
const failures: string[] = [];
let total = 0;

row("", [...clients.keys()]);
for (const kind of quirkClasses) {
  const chosen = quirks[kind].filter(({ name }) => {
    const text = `${kind} ${name}`.toLowerCase();
    return words.every((word) => text.includes(word.toLowerCase()));
  });
  if (chosen.length > 0) console.log(`\n${styleText("bold", kind)}`);
  for (const quirk of chosen) {
    total++;
    const cells: string[] = [];
    for (const [client, runner] of clients) {
      const problems = await runCase(quirk, runner);
      cells.push(problems.length === 0 ? "ok" : "no");
      if (problems.length === 0) passed.set(client, (passed.get(client) ?? 0) + 1);
      else if (client === "rondo" || values.details)
        failures.push(`${client}, ${kind}: ${quirk.name}\n    ${problems.join("\n    ")}`);
    }
    row(`  ${quirk.name}`, cells);
    if (values.show && outcome)
      for (const line of showCase(quirk, outcome)) console.log(styleText("dim", line));
  }
}

console.log("");
row(`passed of ${total}`, [...passed.values()].map(String));
if (failures.length > 0) console.log(`\n${failures.join("\n")}`);
if (passed.get("rondo") !== total) process.exitCode = 1;

function row(name: string, cells: readonly string[]): void {
  const widths = [...clients.keys()].map((client) => client.length + 2);
  const coloured = cells.map((cell, i) => {
    const padded = cell.padEnd(widths[i] ?? 0);
    return cell === "ok" ? styleText("green", padded) : cell === "no" ? styleText("red", padded) : padded;
  });
  console.log(`${name.padEnd(nameWidth)}${coloured.join("")}`);
}
