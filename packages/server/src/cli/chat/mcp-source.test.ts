import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { startModelServer } from "rondo/testing";
import { expect, test, vi } from "vitest";
import { mcpTarget } from "./mcp-source.ts";
import { chatPiped } from "./testkit/chatting.ts";

// They start processes, on machines that may have much to do.
vi.setConfig({ testTimeout: 60_000 });

const require = createRequire(import.meta.url);
const manifest = require.resolve("@modelcontextprotocol/server-everything/package.json");
const everything = `"${process.execPath}" "${join(dirname(manifest), "dist/index.js")}" stdio`;

test("the tools of an MCP server are the model's", async () => {
  await using server = await startModelServer([
    { calls: [{ name: "get-sum", input: { a: 25, b: 17 } }] },
    "It is 42.",
  ]);
  const { exitCode, out, err } = await chatPiped(["--model-url", server.url, "--mcp", everything, "Add."]);
  expect({ exitCode, out }).toEqual({ exitCode: 0, out: "It is 42.\n" });
  expect(err).toContain("← get-sum The sum of 25 and 17 is 42.\n");
  expect(server.requests[1]?.body.messages.at(-1)).toMatchObject({
    role: "tool",
    content: "The sum of 25 and 17 is 42.",
  });
});

test("an unreachable server is reported and the chat continues; duplicate tools are used once", async () => {
  await using server = await startModelServer(["Hello."]);
  const servers = ["--mcp", "no-such-program", "--mcp", everything, "--mcp", everything];
  const { exitCode, out, err } = await chatPiped(["--model-url", server.url, ...servers, "Hi"]);
  expect({ exitCode, out }).toEqual({ exitCode: 0, out: "Hello.\n" });
  expect(err).toContain("The MCP server 'no-such-program' did not start: spawn no-such-program ENOENT.");
  expect(err).toContain("Two tools are called 'echo': the first is used.");
});

test.each([
  ["npx -y server /home", { command: "npx", args: ["-y", "server", "/home"], cwd: "/" }],
  [`node 'my server.js' --a="b c"`, { command: "node", args: ["my server.js", "--a=b c"], cwd: "/" }],
  ["https://mcp.example.com/mcp", { url: "https://mcp.example.com/mcp" }],
])("%s is read as a command or an address", (target, options) => {
  expect(mcpTarget(target, "/")).toEqual(options);
});
