import { expect, test, vi } from "vitest";
import { Client, tool } from "../index.ts";
import { scriptedModel } from "../testing/index.ts";
import { mcpServer } from "./index.ts";
import { everything, small } from "./testkit/servers.ts";

vi.setConfig({ testTimeout: 30_000 });

test("a client has tools of its own beside those of servers", async () => {
  await using server = mcpServer(everything());
  const add = tool("add", "Adds.", { a: Number, b: Number }, ({ a, b }) => a + b);
  using model = scriptedModel([
    {
      calls: [
        { name: "get-sum", input: { a: 1, b: 2 } },
        { name: "add", input: { a: 3, b: 4 } },
      ],
    },
    { calls: [{ name: "get-tiny-image" }] },
    "Done.",
  ]);
  const client = new Client({ model, tools: [add, server], autoExecuteTools: true });
  await client.query("Add, and show.");
  const blocks = await Array.fromAsync(client.receiveMessages());
  expect(blocks.at(-1)).toMatchObject({ type: "text", text: "Done." });
  const told = client.history.flatMap((message) => (message.role === "tool" ? [message.content] : []));
  expect(told).toEqual([
    "The sum of 1 and 2 is 3.",
    "7",
    expect.stringMatching(/^Here's the image you requested:\n\[image, image\/png, \d+ kB: not shown\]\n/),
  ]);
});

test("a server that dies in mid-run is an error result, and is there again for the next call", async () => {
  await using server = mcpServer({ ...small(), onWarning: () => {} });
  using model = scriptedModel([{ calls: [{ name: "die" }] }, { calls: [{ name: "pid" }] }, "Done."]);
  const client = new Client({ model, tools: [server], autoExecuteTools: true });
  await client.query("Go.");
  const results = (await Array.fromAsync(client.receiveMessages())).filter(
    (block) => block.type === "tool_result",
  );
  expect(results).toMatchObject([
    { is_error: true, content: { error: expect.stringContaining("was lost during the call"), tool: "die" } },
    { is_error: false, content: { content: [{ type: "text", text: expect.stringMatching(/^\d+$/) }] } },
  ]);
  expect(client.stopReason).toBe("completed");
});

test("a server that cannot be started leaves the client without its tools", async () => {
  await using server = mcpServer({ command: "no-such-program" });
  using model = scriptedModel(["Hello."]);
  const client = new Client({ model, tools: [server] });
  await client.query("Hi.");
  expect(client.toolNames).toEqual([]);
});
