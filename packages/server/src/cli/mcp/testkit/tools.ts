// Tools for the tests of `rondo mcp`, as a user would write them in a file of their own.
import { appendFileSync, existsSync } from "node:fs";
import { setTimeout } from "node:timers/promises";
import { tool } from "rondo";

console.log("This line is no message of the protocol.");

const log = (line: string) => {
  const file = process.env["TOOL_LOG"];
  if (file !== undefined) appendFileSync(file, `${line}\n`);
};

export const add = tool("add", "Adds two numbers.", { a: Number, b: Number }, ({ a, b }) => {
  console.log("adding");
  return a + b;
});

export const look = tool("look", "Looks.", {}, () => ({ found: ["a"] }));

export const picture = tool("picture", "Shows.", {}, () => ({
  content: [{ type: "image", data: "AAAA", mimeType: "image/png" }],
}));

export const fail = tool("fail", "Fails.", {}, () => {
  throw new Error("It does not work.");
});

export const count = tool("count", "Counts.", { to: Number }, async function* ({ to }) {
  for (let number = 1; number <= to; number += 1) yield number;
  // Until the test has the progress: the SDK's client drops what comes in one piece with the result.
  const file = process.env["TOOL_LOG"];
  const isSeen = () => file === undefined || existsSync(`${file}.seen`);
  while (!isSeen()) await setTimeout(10);
  return `up to ${to}`;
});

export const wait = tool(
  { name: "wait", description: "Waits.", registry: false, timeoutMs: Number.POSITIVE_INFINITY },
  async (_input, { signal }): Promise<string> => {
    log("waiting");
    await new Promise((resolve) => signal.addEventListener("abort", resolve));
    log("aborted");
    throw signal.reason;
  },
);

export const slow = tool(
  { name: "slow", description: "Takes too long.", registry: false, timeoutMs: 20 },
  async (_input, { signal }): Promise<string> => {
    await new Promise((resolve) => signal.addEventListener("abort", resolve));
    throw signal.reason;
  },
);
slow.subtool({ name: "sub", description: "Below another." }, async () => "from below");
