// Programs that state their output: a comment `// → text` at the end of a line is a line of output.
import { execFile } from "node:child_process";
import { expect } from "vitest";
import { repoRoot } from "./repo.ts";

/** The stated lines of output, or undefined if a program states none. */
export function statedOutput(source: string): string[] | undefined {
  const lines = [...source.matchAll(/\/\/ →(?: (.*))?$/gm)].map(([, text]) => text ?? "");
  return lines.length > 0 ? lines : undefined;
}

/**
 * Runs a program in a separate process, and expects it to succeed and to print what it states. With `installed`, the
 * folder of an installation, it uses the packages there, else the sources.
 */
export async function expectToRun(
  file: string,
  source: string,
  title: string,
  installed?: string,
): Promise<void> {
  const { code, stdout, stderr } = await run(file, installed);
  if (code !== 0) expect.fail(`${title} ended with code ${code}:\n${stdout}${stderr}`);
  const stated = statedOutput(source);
  if (!stated) return;
  const printed = stdout.replace(/\n$/, "").split("\n");
  expect(printed, `${title} prints something else than its comments say.\n${stderr}`).toEqual(stated);
}

function run(
  file: string,
  installed: string | undefined,
): Promise<{ code: number | string; stdout: string; stderr: string }> {
  // A program that hangs fails with its output so far, before the test's own time limit.
  const options = {
    cwd: installed ?? repoRoot,
    timeout: 50_000,
    env: { ...process.env, NO_COLOR: "1", FORCE_COLOR: undefined },
  };
  return new Promise((resolve) => {
    const flags = installed === undefined ? ["--conditions=rondo-source"] : [];
    execFile(process.execPath, [...flags, file], options, (error, stdout, stderr) => {
      const code =
        error === null ? 0 : error.killed ? "none, after 50 s" : (error.code ?? error.signal ?? "unknown");
      resolve({ code, stdout, stderr });
    });
  });
}
