// A model that works in a container: the tools, a pool, and files in and out.
import { chmodSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { Client } from "../../client/client.ts";
import { scriptedModel } from "../../testing/scripted-model.ts";
import { bwrap } from "../bwrap/bwrap.ts";
import { findProgram } from "../bwrap/host.ts";
import { ContainerPool } from "../container-pool.ts";
import type { Container } from "../sandbox.ts";
import { codeInterpreter } from "./code-interpreter.ts";
import { shell } from "./shell.ts";

const canRun = findProgram("bwrap") !== undefined && existsSync("/usr/bin/python3");
const folder = mkdtempSync(join(tmpdir(), "rondo-tools-"));
// Users of containers pass through it, where this process is root.
chmodSync(folder, 0o711);

describe.skipIf(!canRun)(`tools${canRun ? "" : ", skipped, because bwrap or python3 is missing"}`, () => {
  const sandbox = bwrap({ folder: join(folder, "sandbox") });
  const pool = new ContainerPool({ sandbox });
  afterAll(async () => {
    await pool.close();
    await sandbox.close();
    rmSync(folder, { recursive: true, force: true });
  });

  test("a model reads a file in Python, keeps its variables, and uses the shell", async () => {
    await pool.fill();
    expect(pool.size).toBe(1);
    const { container, interpreter } = await pool.take();
    await container.write("sales.csv", Buffer.from("month,sales\nJan,3\nFeb,5\n"));
    const model = scriptedModel([
      {
        calls: [
          {
            name: "python",
            input: { code: "rows = open('sales.csv').read().split()[1:]\nprint('\\x1b[31mred')\nlen(rows)" },
          },
        ],
      },
      {
        calls: [
          {
            name: "python",
            input: { code: "raise KeyError(rows[0])" },
          },
        ],
      },
      { calls: [{ name: "shell", input: { commands: ["cat sales.csv | wc -l", "exit 3"] } }] },
      { text: "Done." },
    ]);
    const results: unknown[] = [];
    const tools = [codeInterpreter({ container, interpreter }), shell({ container })];
    await using client = new Client({ model, tools, autoExecuteTools: true });
    await client.query("Look at the file.");
    for await (const block of client.receiveMessages())
      if (block.type === "tool_result") results.push(block.content);
    expect(results[0]).toBe("red\n2");
    expect(results[1]).toContain("KeyError: 'Jan,3'");
    expect(results[2]).toEqual([
      { stdout: "3\n", stderr: "", outcome: { type: "exit", code: 0 } },
      { stdout: "", stderr: "", outcome: { type: "exit", code: 3 } },
    ]);
    await container.close();
  });

  test("figures become files, and an interpreter that was lost is replaced", async () => {
    const { container, interpreter } = await pool.take();
    const python = codeInterpreter({ container, interpreter });
    const run = async (code: string) => {
      const turn = python.execute({ code });
      for (;;) {
        const { done, value } = await turn.next();
        if (done) return String(value);
      }
    };
    const text = await run(
      "try:\n  import matplotlib.pyplot as plt\n  plt.plot([1]); plt.show()\nexcept ImportError: print('[a figure was saved')",
    );
    expect(text).toContain("[a figure was saved");
    expect(await figures(container)).toEqual(text.includes("figure-1.png") ? ["figure-1.png"] : []);
    expect(await run("import os; os._exit(1)")).toMatch(/^\[lost\] .* variables are gone/);
    expect(await run("1 + 1")).toBe("2");
    await container.close();
  });

  test("a container of the pool lasts if it gets a record, and a shell can shorten its output", async () => {
    const { container } = await pool.take({ record: { owner: "me" } });
    const { id } = container;
    const [result] = await shell({ container }).execute({ commands: ["seq 1000"], max_output_length: 20 });
    expect(result?.stdout).toMatch(/^1\n2\n3\n4\n5\n\n… \(\d+ characters left out\) …\n/);
    const [late] = await shell({ container }).execute({ commands: ["sleep 10"], timeout_ms: 50 });
    expect(late?.outcome.type).toBe("timeout");
    await container.close();
    expect((await sandbox.containers()).map((one) => [one.id, one.record])).toEqual([[id, { owner: "me" }]]);
    await sandbox.remove(id);
  });
});

async function figures(container: Container): Promise<string[]> {
  return (await container.list()).map(({ path }) => path).filter((path) => path.endsWith(".png"));
}
