// The figures of the sandbox, as a table for docs/sandbox.md.
import type { SandboxResults } from "../sandbox/measure-sandbox.ts";

export function sandboxReport(results: SandboxResults): string {
  const ms = (value: number) => `${value < 10 ? value.toFixed(value < 1 ? 2 : 1) : Math.round(value)} ms`;
  const mebibytes = (value: number) => `${Math.round(value / 2 ** 20)} MiB`;
  const rows = [
    ["a new container runs `true`", ms(results.processMs)],
    ["a new container, until Python has answered 1 + 1", ms(results.pythonMs)],
    ["a new container, until Node has answered 1 + 1", ms(results.javascriptMs)],
    ["a container of the pool, until Python has answered 1 + 1", ms(results.warmMs)],
    ["1 + 1 in a Python that runs", ms(results.callMs)],
    ["the same in Python without a sandbox", ms(results.bareCallMs)],
    [`${results.containers} containers at once, until Python has answered in all`, ms(results.allMs)],
    ["memory of each of them", mebibytes(results.memoryBytes)],
    ["written beyond a limit of 64 MiB, as fast as Python can", mebibytes(results.overshootBytes)],
    ["files made beyond a limit of 1,000", results.overshootFiles.toLocaleString("en-US")],
  ];
  return ["| | |", "|---|---|", ...rows.map((row) => `| ${row.join(" | ")} |`)].join("\n");
}
