import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { tempFolder } from "../testkit/temp-folder.ts";
import { sqliteStore } from "./sqlite-store.ts";

const program = fileURLToPath(new URL("../testkit/commit-loop.ts", import.meta.url));

/** Runs the program until it has told of `count` commits, and kills it. Gives the last commit of each response. */
async function runAndKill(path: string, round: number, count: number) {
  const child = spawn(process.execPath, ["--conditions=rondo-source", program, path, String(round)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const exited = once(child, "exit");
  const acknowledged = new Map<string, number>();
  let secondServer: unknown;
  let seen = 0;
  for await (const line of createInterface({ input: child.stdout })) {
    const [id = "", sequence] = line.split(" ");
    acknowledged.set(id, Number(sequence));
    seen += 1;
    secondServer ??= errorOf(() => sqliteStore({ path }));
    if (seen === count) child.kill("SIGKILL");
  }
  const [, signal] = await exited;
  return { acknowledged, secondServer, signal };
}

function errorOf(run: () => unknown): unknown {
  try {
    return run();
  } catch (error) {
    return error;
  }
}

test("what was acknowledged is there after the process was killed, and nothing by halves", {
  timeout: 60_000,
}, async () => {
  using folder = tempFolder();
  const path = join(folder.path, "rondo.db");
  const told = new Map<string, number>();
  for (const [round, count] of [37, 411, 1203].entries()) {
    const { acknowledged, secondServer, signal } = await runAndKill(path, round, count);
    expect(signal).toBe("SIGKILL");
    expect(secondServer).toMatchObject({ code: "in_use" });
    for (const [id, sequence] of acknowledged) told.set(id, sequence);
    const store = sqliteStore({ path });
    for (const [id, sequence] of told) {
      const events = await store.events("ann", id, -1, 100_000);
      const output = await store.output("ann", id);
      expect(events.length).toBeGreaterThan(sequence);
      expect(events.map((event) => event.sequence)).toEqual(output.map((item) => item.index));
    }
    // Their worker is dead, so their leases are void, long before their time is over.
    const claims = await store.queue.claim("worker-2", { leaseMs: 30_000, limit: 100 });
    expect(claims.map((claim) => claim.responseId)).toEqual(expect.arrayContaining([...told.keys()]));
    await store.close();
  }
  expect(told.size).toBe(12);
});
