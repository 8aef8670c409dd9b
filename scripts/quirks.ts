// Prints the table of quirks of model servers with what Rondo makes of them, behind `npm run quirks`. The cases
// are data in test/quirks/cases; the same cases are tests. With `--peers` other clients get the same streams.
import { styleText } from "node:util";
import { setLogger } from "rondo";
import { quirks } from "../test/quirks/cases/all.ts";
import { quirkClasses } from "../test/quirks/quirk-case.ts";
import { runWithRondo } from "../test/quirks/rondo-runner.ts";
import { type CaseRunner, runCase } from "../test/quirks/run-case.ts";

setLogger({ warn: () => {} });

const clients: ReadonlyMap<string, CaseRunner> = new Map([["rondo", runWithRondo]]);
const passed = new Map([...clients.keys()].map((name) => [name, 0]));
const failures: string[] = [];
let total = 0;

console.log(`${"".padEnd(64)}${[...clients.keys()].join("  ")}`);
for (const kind of quirkClasses) {
  console.log(`\n${styleText("bold", kind)}`);
  for (const quirk of quirks[kind]) {
    total++;
    const cells: string[] = [];
    for (const [client, runner] of clients) {
      const problems = await runCase(quirk, runner);
      if (problems.length === 0) passed.set(client, (passed.get(client) ?? 0) + 1);
      else if (client === "rondo") failures.push(`${kind}: ${quirk.name}\n    ${problems.join("\n    ")}`);
      cells.push(mark(problems.length === 0).padEnd(client.length));
    }
    console.log(`  ${quirk.name.padEnd(62)}${cells.join("  ")}`);
  }
}

console.log(
  `\n${"passed".padEnd(64)}${[...passed].map(([name, count]) => `${name} ${count}/${total}`).join("  ")}`,
);
if (failures.length > 0) {
  console.log(`\n${failures.join("\n")}`);
  process.exitCode = 1;
}

function mark(isRight: boolean): string {
  return isRight ? styleText("green", "ok") : styleText("red", "no");
}
