// Files are loaded by a Node of their own, because a test runner has ways of its own to import.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { tool } from "rondo";
import { expect, test, vi } from "vitest";
import { folderWith } from "../../config/testkit/folder.ts";
import { toolsIn } from "./tool-source.ts";

vi.setConfig({ testTimeout: 60_000 });

const main = fileURLToPath(new URL("../main.ts", import.meta.url));

async function chat(cwd: string, ...args: string[]) {
  const flags = ["--conditions=rondo-source", main, "chat", "--model", "demo", ...args];
  const child = spawn(process.execPath, flags, { cwd, env: {}, stdio: ["ignore", "pipe", "pipe"] });
  const ended = once(child, "close") as Promise<[number | null]>;
  const [stdout, stderr, [status]] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  return { status, stdout, stderr };
}

test("the tools of a module are its exports, and those in lists, each once", () => {
  const [add, mul] = ["add", "mul"].map((name) => tool(name, "Calculate.", {}, () => 1));
  expect(toolsIn({ add, default: [add, mul], version: 5, helper: () => {} }, "tools.ts")).toEqual([add, mul]);
  expect(() => toolsIn({ default: {}, add: null }, "tools.ts")).toThrow("tools.ts exports no tools. Write");
});

test("tools of a TypeScript file are called, and shown with their arguments and results", async () => {
  using folder = folderWith({
    "tools.ts": `
import { tool } from "${import.meta.resolve("rondo")}";
interface Pair { a: number; b: number }
const sum = ({ a, b }: Pair): number => a + b;
export const add = tool("add", "Add two numbers.", { a: Number, b: Number }, sum);
`,
  });
  const { status, stdout, stderr } = await chat(folder.path, "--tools", "tools.ts", "What is 25 + 17?");
  expect(stdout).toContain("42");
  expect(stderr).toContain('→ add {"a":25,"b":17}\n← add 42\n');
  expect(status).toBe(0);
});

test("a file that cannot be loaded is reported with the reason", async () => {
  using folder = folderWith({
    "broken.ts": "export const = 5;",
    "bare.ts": 'import { tool } from "rondo"; export const add = tool("add", "Add.", {}, () => 1);',
  });
  const said = async (file: string) => {
    const { status, stdout, stderr } = await chat(folder.path, "--tools", file, "Hi");
    expect([status, stdout]).toEqual([file === "none.ts" ? 2 : 1, ""]);
    expect(stderr).not.toContain("    at ");
    return stderr;
  };
  const [none, broken, bare] = await Promise.all(["none.ts", "broken.ts", "bare.ts"].map(said));
  expect(none).toBe(`rondo: There is no file none.ts in ${folder.path}. Check its name and folder.\n`);
  expect(broken).toContain("The tools of broken.ts could not be loaded: ");
  expect(bare).toContain("Run `npm install rondo` in its folder.");
});
