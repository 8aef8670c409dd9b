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

test("duplicate tools are used once", async () => {
  await using server = await startModelServer(["Hello."]);
  const servers = ["--mcp", everything, "--mcp", everything];
  const { exitCode, out, err } = await chatPiped(["--model-url", server.url, ...servers, "Hi"]);
  expect({ exitCode, out }).toEqual({ exitCode: 0, out: "Hello.\n" });
  expect(err).toContain("Two tools are called 'echo': the first is used.");
});

test.each([
  [
    "no-such-program --stdio",
    "The MCP server 'no-such-program' did not start: the program 'no-such-program' was not found; check its name, and whether it is installed. Check the command; quotes around it belong to the shell, or leave out --mcp \"no-such-program --stdio\".",
  ],
  ["http://127.0.0.1:9/mcp", 'Check the URL, or leave out --mcp "http://127.0.0.1:9/mcp".'],
])("without the server %s there is no chat, and others are closed", async (target, expected) => {
  await using server = await startModelServer([]);
  const args = ["--model-url", server.url, "--mcp", everything, "--mcp", target, "Hi"];
  const { exitCode, out, err } = await chatPiped(args);
  expect({ exitCode, out }).toEqual({ exitCode: 1, out: "" });
  expect(err).toContain(expected);
});

test.each([
  ["npx -y server /home", { command: "npx", args: ["-y", "server", "/home"], cwd: "/" }],
  [`node 'my server.js' --a="b c"`, { command: "node", args: ["my server.js", "--a=b c"], cwd: "/" }],
  ["https://mcp.example.com/mcp", { url: "https://mcp.example.com/mcp" }],
])("%s is read as a command or an address", (target, options) => {
  expect(mcpTarget(target, "/")).toEqual(options);
});
