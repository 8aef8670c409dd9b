import fc from "fast-check";
import { expect, test } from "vitest";
import { mcpServer } from "./index.ts";
import { distinctNames, shortName } from "./names.ts";

test("any names become different names that models can have, always the same ones", () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.string({ maxLength: 100 })), (names) => {
      const chosen = distinctNames(names);
      expect([...chosen.keys()].toSorted()).toEqual(names.toSorted());
      expect(new Set(chosen.values()).size).toBe(names.length);
      for (const short of chosen.values()) expect(short).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
      const unchanged = names.filter((name) => shortName(name) === name);
      expect(unchanged.map((name) => chosen.get(name))).toEqual(unchanged);
      expect(distinctNames(names)).toEqual(chosen);
    }),
  );
});

test.each([
  [
    { command: "npx", args: ["-y", "@modelcontextprotocol/server-everything@2026.8.31"] },
    "server-everything",
  ],
  [{ command: "/usr/local/bin/files", args: ["/home"] }, "files"],
  [{ command: "node", args: ["--inspect", "tools/my.server.js"] }, "my_server"],
  [{ command: "npx" }, "mcp"],
  [{ url: "https://mcp.example.com/mcp" }, "mcp_example_com"],
  [{ url: "https://mcp.example.com/mcp", name: "mine" }, "mine"],
])("%j is called %s", (options, name) => {
  expect(mcpServer(options).name).toBe(name);
});

test.each([
  [{}, "options: expected either a command to start, or the url"],
  [{ command: "a", url: "http://b" }, "options: expected either a command to start, or the url"],
  [{ command: "a", headers: {} }, "headers: expected nothing, for it goes with a url"],
  [{ url: "http://b", args: [] }, "args: expected nothing, for it goes with a command"],
  [{ url: "ftp://b" }, "url: expected an http:// or https:// URL"],
  [{ url: "nonsense" }, "url: expected an http:// or https:// URL"],
  [{ command: " " }, "command: expected a program to start"],
  [{ command: "a", args: "b" }, "args: expected a list of strings"],
  [{ command: "a", env: { KEY: 1 } }, "env.KEY: expected a string"],
  [{ command: "a", name: "with spaces" }, "name: expected 1 to 64 letters"],
  [{ command: "a", timeoutMs: -1 }, "timeoutMs"],
  [{ command: "a", onWarning: "x" }, "onWarning: expected a function"],
  [{ command: "a", comand: "b" }, "comand"],
])("%j is refused", (options, message) => {
  expect(() => mcpServer(options as never)).toThrow(message);
});
