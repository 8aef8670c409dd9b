import { describe, expect, test } from "vitest";
import { isCarrier } from "../engine/server-calls.ts";
import type { InputItem } from "../protocol/items.ts";
import { clientTools } from "./testkit/client.ts";
import { clients } from "./testkit/clients.ts";
import { scenarios } from "./testkit/scenarios.ts";
import { serverTools, start } from "./testkit/start.ts";

// Every client on every task. Whatever a client is sent is held against the public schema and the contract.
describe.each(clients)("$name", (client) => {
  test.each(scenarios)("$name", async ({ script, text, ran: expected, finishes, output }) => {
    const steps = script();
    const server = await start({ script: steps, tools: serverTools });
    const ran: string[] = [];
    const { signal } = new AbortController();
    const working = client.work(server, { prompt: "Work!", tools: clientTools(ran), signal });
    const outcome = await working.catch((error: unknown) => error);

    expect(server.exchanges.flaws()).toEqual([]);
    server.model.assertUsedUp();
    expect(outcome).toEqual({ text: expect.stringContaining(text), finishes });
    expect(ran).toEqual(expected);
    const types = server.exchanges.responses.map(({ output: items }) =>
      items.filter((item: InputItem) => !isCarrier(item)).map(({ type }: InputItem) => type),
    );
    expect(types).toEqual(output);
  });

  test("a client's call, when the server is told not to say requires_action", async () => {
    const script = [{ calls: [{ name: "add", input: { a: 2, b: 3 } }] }, "The sum is 5."];
    const server = await start({ script, config: { compat: { requiresActionStatus: false } } });
    const ran: string[] = [];
    const { signal } = new AbortController();
    const { text } = await client.work(server, { prompt: "Work!", tools: clientTools(ran), signal });

    expect(server.exchanges.flaws()).toEqual([]);
    expect([text, ran]).toEqual(["The sum is 5.", ["add(2, 3)"]]);
    expect(server.exchanges.responses.map(({ status }) => status)).toEqual(["completed", "completed"]);
  });
});
