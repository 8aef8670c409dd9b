import fc from "fast-check";
import type { ModelRequest } from "rondo/models";
import type { ScriptedAnswer, ScriptedCall } from "rondo/testing";
import { expect, test } from "vitest";
import { clientTools } from "./testkit/client.ts";
import { openaiClients } from "./testkit/openai-clients.ts";
import { expectValidCalls } from "./testkit/scenarios.ts";
import { serverTools, start } from "./testkit/start.ts";

const call: fc.Arbitrary<ScriptedCall> = fc.oneof(
  fc.record({ name: fc.constant("clock"), input: fc.record({ city: fc.string() }) }),
  fc.record({
    name: fc.constantFrom("add", "multiply"),
    input: fc.record({ a: fc.integer(), b: fc.integer() }),
  }),
  // A tool that fails, one that nobody has, and arguments that are not what the tool wants.
  fc.record({ name: fc.constantFrom("broken", "oracle") }),
  fc.record({ name: fc.constant("clock"), input: fc.record({ city: fc.integer() }) }),
);

const pieces = fc.array(fc.string({ unit: "grapheme" }), { maxLength: 4 });

/** What a model may say in the middle of its work. */
const turn: fc.Arbitrary<ScriptedAnswer> = fc.record(
  { thinking: pieces, text: pieces, calls: fc.array(call, { minLength: 1, maxLength: 4 }) },
  { requiredKeys: ["calls"] },
);

// Three turns at most: a model whose calls cannot run in four answers in a row is stopped.
const script = fc
  .tuple(fc.array(turn, { maxLength: 3 }), fc.record({ thinking: pieces, text: fc.string({ minLength: 1 }) }))
  .map(([turns, last]): ScriptedAnswer[] => [...turns, last]);

// Whatever a model says, what the client is sent follows the public schema and the contract of streams.
test.each(openaiClients)(
  "$name: any run is sound, and comes to its end",
  async (client) => {
    await fc.assert(
      fc.asyncProperty(script, async (steps) => {
        const checked = steps.map((step) => ({ messages }: ModelRequest) => {
          expectValidCalls(messages);
          return step;
        });
        const server = await start({ script: checked, tools: serverTools });
        const { signal } = new AbortController();
        const { finishes } = await client.work(server, { prompt: "Work!", tools: clientTools([]), signal });
        expect(server.exchanges.flaws()).toEqual([]);
        server.model.assertUsedUp();
        expect(finishes.at(-1)).toBe("end");
        await server.close();
      }),
      { numRuns: 15 },
    );
  },
  60_000,
);
