// The table in docs/defaults.md is true: each column is measured with a model that calls a tool forever.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Agent, Client, type ModelProvider, type ModelSettings, tool } from "rondo";
import { scriptedModel } from "rondo/testing";
import { expect, test } from "vitest";
import { ChatConversation } from "../packages/server/src/cli/chat/conversation.ts";
import { modelSource } from "../packages/server/src/cli/chat/model-source.ts";
import { startServer } from "../packages/server/src/index.ts";
import { repoRoot } from "./support/repo.ts";

type Use = (model: ModelProvider, step: ReturnType<typeof makeStep>) => Promise<void>;

function makeStep(ran: () => void) {
  return tool("step", "One step.", { n: Number }, ({ n }) => {
    ran();
    return n;
  });
}

const uses: Record<string, Use> = {
  "`query()`, `Client`": async (model, step) => {
    await using client = new Client({ model, tools: [step], autoExecuteTools: true });
    await client.query("Go");
    for await (const _ of client.receiveMessages());
  },
  "`Agent`": async (model, step) => {
    const agent = new Agent({ name: "worker", model, tools: [step], registry: false });
    await agent.ask("Go");
    for await (const _ of agent.run());
  },
  "`rondo chat`, `rondo run`": async (model, step) => {
    await using chat = new ChatConversation({ source: modelSource([]), model, tools: [step] });
    for await (const _ of chat.ask("Go", new AbortController().signal));
  },
  server: async (model, step) => {
    await using server = await startServer({ port: 0, store: "memory", models: { model }, tools: [step] });
    const reply = await fetch(`${server.url}/v1/responses`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ input: "Go" }),
    });
    expect(await reply.json()).toMatchObject({ status: "incomplete" });
  },
};

const rows = readFileSync(join(repoRoot, "docs/defaults.md"), "utf8")
  .split("\n")
  .filter((line) => line.startsWith("|"))
  .map((line) =>
    line
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
const [head = []] = rows;

test("the table has a column for each use", () => {
  expect(head.slice(1)).toEqual(Object.keys(uses));
});

test.each(Object.entries(uses))("%s has the defaults of the table", async (name, use) => {
  const stated = (row: string) => rows.find(([title]) => title === row)?.[head.indexOf(name)];
  let steps = 0;
  const model = scriptedModel(
    Array.from({ length: 60 }, (_, n) => ({ calls: [{ name: "step", input: { n } }] })),
  );
  await use(
    model,
    makeStep(() => {
      steps += 1;
    }),
  );
  const { temperature, maxTokens }: ModelSettings = model.requests[0]?.settings ?? {};
  expect(stated("rounds of tools for one prompt")).toBe(`${steps}`);
  expect(stated("`temperature`")).toBe(`${temperature ?? "not sent"}`);
  expect(stated("`max_tokens`")).toBe(`${maxTokens ?? "not sent"}`);
});
