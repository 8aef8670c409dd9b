// Saved and restored: one process starts the work, another one finishes it
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Agent, ContextItem, Turn, tool } from "rondo";

// Code is not saved. Each process defines the tools, and saved turns find them by name.
const visit = tool(
  { name: "visit", description: "Visit a city.", input: { city: String } },
  async function* ({ city }) {
    yield new ContextItem({ content: city }); // stored in the agent's context
    return `visited ${city}`;
  },
);
const report = tool(
  { name: "report", description: "Tell where the journey went." },
  async (_input, { contextQueue }) => `the journey: ${contextQueue?.history().replaceAll("\n", ", ")}`,
);

const saved = process.argv[2];
if (saved === undefined) await begin();
else await finish(saved);

async function begin(): Promise<void> {
  const traveller = new Agent({ name: "traveller", tools: [visit, report] });
  for (const city of ["Oslo", "Lima", "Cairo"]) await traveller.put(new Turn(visit, { city }));
  await traveller.put(new Turn(report));
  for await (const [, value] of traveller.run()) {
    console.log("first process:", value);
    if (value === "visited Lima") break; // leaves the rest in the queue
  }
  // → first process: visited Oslo
  // → first process: visited Lima

  const folder = await mkdtemp(join(tmpdir(), "rondo-"));
  const file = join(folder, "traveller.json");
  await writeFile(file, JSON.stringify(traveller));
  const other = spawn(process.execPath, [...process.execArgv, import.meta.filename, file], {
    stdio: "inherit",
  });
  const [code] = await once(other, "exit");
  await rm(folder, { recursive: true });
  process.exitCode = code;
}

async function finish(file: string): Promise<void> {
  const traveller = Agent.fromJSON(JSON.parse(await readFile(file, "utf8")));
  for await (const [, value] of traveller.run()) console.log("second process:", value);
  // → second process: visited Cairo
  // → second process: the journey: Oslo, Lima, Cairo
}
