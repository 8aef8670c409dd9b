import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { startServer } from "@rondo/server";
import { demoModel } from "rondo/demo";
import { describe, expect, onTestFinished, test } from "vitest";
import { snippets } from "./snippets.ts";

const repoRoot = fileURLToPath(new URL("../../../..", import.meta.url));

/** What a program prints. */
async function outputOf(command: string, args: readonly string[]): Promise<string> {
  const child = spawn(command, args, { cwd: repoRoot, stdio: ["ignore", "pipe", "inherit"] });
  return text(child.stdout);
}

describe("the programs to try", () => {
  test("all answer, with the server's address and one of its models", async () => {
    await using server = await startServer({
      port: 0,
      store: "memory",
      log: { level: "silent" },
      models: { demo: demoModel() },
    });
    const all = snippets({ address: server.url, model: "demo", hasAuth: false });
    const code = (id: string) => all.find((it) => it.id === id)?.code ?? "";
    // In the repository, so that they find the packages.
    const folder = mkdtempSync(join(repoRoot, ".cache-snippets-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const programs = ["openai", "ai-sdk", "rondo"].map((id) => {
      writeFileSync(join(folder, `${id}.mjs`), code(id));
      return `await import("./${id}.mjs");`;
    });
    writeFileSync(join(folder, "all.mjs"), programs.join("\n"));
    const [printed, reply] = await Promise.all([
      outputOf(process.execPath, ["--conditions=rondo-source", join(folder, "all.mjs")]),
      outputOf("sh", ["-c", `${code("curl")} --silent`]),
    ]);
    expect(printed).toBe("25 + 17 is 42.\n".repeat(3));
    expect(JSON.parse(reply)).toMatchObject({ status: "completed", model: "demo" });
    expect(code("codex")).toContain(`base_url = "${server.url}/v1"`);
  });

  test("name the environment's key where there is one, and quote any name of a model", () => {
    const odd = `it's "odd"`;
    const all = snippets({ address: "http://127.0.0.1:4500", model: odd, hasAuth: true });
    for (const { code } of all) expect(code).toContain("RONDO_API_KEY");
    const [curl, openai] = all;
    expect(curl?.code).toContain(`"model":"it'\\''s \\"odd\\""`);
    expect(openai?.code).toContain(JSON.stringify(odd));
    const open = snippets({ address: "http://127.0.0.1:4500", model: "m", hasAuth: false });
    for (const { code } of open) expect(code).not.toContain("RONDO_API_KEY");
  });
});
