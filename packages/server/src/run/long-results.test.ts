// Long results of tools: the model reads a part, the client and the store have all of it.

import { type AnyTool, openaiCompatible, tool } from "rondo";
import { type ServerStep, startModelServer } from "rondo/testing";
import { expect, onTestFinished, test } from "vitest";
import { memoryStore } from "../store/testkit/memory.ts";
import { powerCut } from "../store/testkit/store-around.ts";
import { never, plain, type ServiceSetup, startService } from "./testkit/service.ts";
import { weather } from "./testkit/tools.ts";

const long = Array.from({ length: 3000 }, (_, line) => `line ${line} of the report`).join("\n");
const report: AnyTool = tool({ name: "report", description: "Reports.", registry: false }, async () => long);
const readOn = (offset: number) => ({ calls: [{ name: "read_result", input: { id: "result_0", offset } }] });

async function start(script: readonly ServerStep[] | ServerStep, setup: Partial<ServiceSetup> = {}) {
  const server = await startModelServer(script);
  onTestFinished(() => server.close());
  const model = openaiCompatible({ baseURL: server.url, model: "test" });
  const service = await startService({ model, tools: [report], maxResultTokens: 500, ...setup });
  return { server, model, service };
}

const lastContent = ({ body }: { body: { messages: { content: string }[] } }) =>
  body.messages.at(-1)?.content;

test("a result of the server's tool is shown whole, and read on in this response and in the next", async () => {
  const { server, service } = await start([
    { calls: [{ name: "report" }] },
    readOn(1600),
    "Half of it.",
    readOn(3200),
    "More of it.",
  ]);
  const first = await plain(service, { input: "Report" });
  expect(first.output).toMatchObject([
    { type: "mcp_call", name: "report", output: long },
    { type: "mcp_call", server_label: "local", name: "read_result" },
    { type: "message" },
  ]);
  await plain(service, { input: "Go on", previous_response_id: first.id });
  const [, shown, part, , further] = server.requests.map(lastContent);
  expect(shown?.length).toBeLessThan(3000);
  expect(shown).toContain("To read on, call read_result with");
  expect(shown).toMatch(/line 2999 of the report$/);
  expect(long.indexOf(part?.split("\n\n[")[0] ?? "?")).toBe(1600);
  expect(long.indexOf(further?.split("\n\n[")[0] ?? "?")).toBe(3200);
  const texts = server.requests.map(({ body }) => JSON.stringify(body.messages).slice(0, -1));
  for (const [index, text] of texts.entries()) expect(text.startsWith(texts[index - 1] ?? "[")).toBe(true);
});

test("an output of the client is too, and only in its own conversation", async () => {
  const { server, service } = await start([
    { calls: [{ name: "weather", input: { city: "Rome" } }] },
    readOn(1600),
    "Long.",
    readOn(0),
    "Nothing.",
  ]);
  const first = await plain(service, { input: "Weather?", tools: [weather] });
  const call = first.output.find(({ type }) => type === "function_call") as { call_id?: string } | undefined;
  const input = [{ type: "function_call_output", call_id: call?.call_id, output: long }];
  await plain(service, { input, tools: [weather], previous_response_id: first.id });
  await plain(service, { input: "Read the other conversation." });
  const [, shown, part, , other] = server.requests.map(lastContent);
  expect(shown?.length).toBeLessThan(3000);
  expect(long.indexOf(part?.split("\n\n[")[0] ?? "?")).toBe(1600);
  expect(other).not.toContain("of the report");
});

test("a process that continues the run after a crash reads on", async () => {
  let nowMs = 1_000_000;
  const store = memoryStore({ now: () => nowMs });
  const power = powerCut(store, { at: 5, isKept: true });
  const script: ServerStep = ({ body }) => {
    const results = body.messages.filter(({ role }: { role: string }) => role === "tool").length;
    return [{ calls: [{ name: "report" }] }, readOn(1600), { text: "Done." }][results] ?? { text: "Done." };
  };
  const { server, model, service } = await start(script, { store: power.store });
  const request = { model: "test", input: "Go", background: true };
  const { id } = await service.enqueue(await service.prepare("ada", request));
  await power.isOff;
  nowMs += 1_000_000;
  const second = await startService({ model, tools: [report], store, maxResultTokens: 500 });
  await second.follow("ada", id, -1, { drained: undefined, send: () => {} }, never);
  const response = await second.get("ada", id);
  expect(response.status).toBe("completed");
  const contents = server.requests.map(lastContent);
  expect(contents.some((it) => it !== undefined && long.indexOf(it.split("\n\n[")[0] ?? "?") === 1600)).toBe(
    true,
  );
});
