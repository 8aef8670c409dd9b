// However a run ends, history is valid and the client can be used again.

import fc from "fast-check";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Client, setLogger, tool } from "../index.ts";
import { type ScriptedStep, scriptedModel } from "../testing/index.ts";
import { flawsOf } from "../testkit/flaws-of.ts";

beforeEach(() => setLogger({ warn: () => {} }));
afterEach(() => setLogger());

/** Asks until the script has no failing answers left, and answers what is asked for. */
async function askAgain(client: Client, failures: number): Promise<void> {
  for (let tries = 0; tries <= failures; tries += 1)
    try {
      await client.query("Again");
      for await (const _ of client.receiveMessages());
      for (const { id } of client.openCalls) await client.addToolResult(id, "answered");
      return;
    } catch (error) {
      if (!/dropped|hook failed/.test(String(error))) throw error;
    }
}

const call = fc.constantFrom(
  { name: "add", input: { a: 1, b: 2 } },
  { name: "slow", input: {} },
  { name: "fail", input: {} },
  { name: "unknown", input: {} },
  { name: "add", input: { a: "one" } },
  { name: "add", arguments: "not JSON" },
);
const answer: fc.Arbitrary<ScriptedStep> = fc.record(
  {
    text: fc.constantFrom("", "Some text.", ["Text ", "in ", "pieces."]),
    calls: fc.array(call, { maxLength: 3 }),
    error: fc.option(fc.constant(new Error("dropped")), { nil: undefined, freq: 8 }),
  },
  { requiredKeys: ["text", "calls"] },
) as fc.Arbitrary<ScriptedStep>;

const scenario = fc.record({
  answers: fc.array(answer, { minLength: 1, maxLength: 3 }),
  isAutomatic: fc.boolean(),
  /** What is done, after so many blocks. */
  deed: fc.constantFrom("nothing", "break", "interrupt", "interrupt from elsewhere", "throw"),
  after: fc.nat(8),
  isHookBroken: fc.boolean(),
});

test("history is valid after any run, however it ends", async () => {
  await fc.assert(
    fc.asyncProperty(scenario, async ({ answers, isAutomatic, deed, after, isHookBroken }) => {
      let runs = 0;
      const add = tool("add", "Adds.", { a: Number, b: Number }, ({ a, b }) => {
        runs += 1;
        return a + b;
      });
      const slow = tool("slow", "Streams.", {}, async function* () {
        yield "begun";
        await new Promise((resolve) => setTimeout(resolve, 1));
        yield "ended";
      });
      const fail = tool("fail", "Fails.", {}, () => {
        throw new Error("broken");
      });
      const model = scriptedModel([...answers, ...Array.from({ length: 6 }, () => "Done.")]);
      const hooks = {
        pre_tool_use: [
          ({ toolName }: { toolName: string }) => {
            if (isHookBroken && toolName === "slow") throw new Error("hook failed");
          },
        ],
      };
      const client = new Client({ model, tools: [add, slow, fail], autoExecuteTools: isAutomatic, hooks });
      let texts = "";
      try {
        await client.query("Go");
        let count = 0;
        for await (const block of client.receiveMessages()) {
          count += 1;
          if (block.type === "text") texts += block.text;
          if (count <= after) continue;
          if (deed === "break") break;
          if (deed === "throw") throw new Error("mine");
          if (deed === "interrupt") await client.interrupt();
          if (deed === "interrupt from elsewhere") setTimeout(() => void client.interrupt());
        }
      } catch {
        // A failing model, hook or loop body: the client must bear it.
      }
      await client.interrupt();
      for (const { id } of client.openCalls) await client.addToolResult(id, "answered late");
      expect(flawsOf(client.history)).toEqual([]);

      // What was shown is what history has, and the client can be asked again.
      const said = client.history
        .map((message) => (message.role === "assistant" ? message.content : ""))
        .join("");
      expect(said.startsWith(texts)).toBe(true);
      await askAgain(client, answers.length);
      expect(flawsOf(client.history)).toEqual([]);
      expect(runs).toBeLessThanOrEqual(answers.length * 3);
    }),
    { numRuns: 300 },
  );
}, 60_000);
