// What only a process of its own can show of the streams.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const main = fileURLToPath(new URL("main.ts", import.meta.url));

test("ends silently when the output is no longer read", { timeout: 60_000 }, async () => {
  const args = ["--conditions=rondo-source", main, "chat", "--model", "demo"];
  const child = spawn(process.execPath, args, { env: {}, stdio: "pipe" });
  const ended = once(child, "close");
  const err = text(child.stderr);
  child.stdin.write("What is 1 + 1?\n");
  const [first] = await once(child.stdout, "data");
  expect(String(first)).not.toBe("");
  child.stdout.destroy();
  child.stdin.end("What is 1 + 2?\nWhat is 1 + 3?\n");
  expect(await ended).toEqual([141, null]);
  expect(await err).not.toContain("EPIPE");
});
