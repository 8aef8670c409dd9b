import fc from "fast-check";
import { scriptedModel } from "rondo/testing";
import { describe, expect, onTestFinished, test } from "vitest";
import { streamFlaws } from "../conformance/testkit/stream-checker.ts";
import { McpExecutor } from "../executor/mcp/mcp-executor.ts";
import { startNotebook } from "../executor/mcp/testkit/notebook-server.ts";
import { storeAround } from "../store/testkit/store-around.ts";
import { memoryDisk } from "./testkit/crash.ts";
import { call, checked, started } from "./testkit/mcp.ts";
import { collector, lastResponse, never, startService, stream, toFrames } from "./testkit/service.ts";
import { inShort } from "./testkit/tools.ts";

describe("a cancelled response", () => {
  test("cancels its call at the MCP server", async () => {
    const { service, notebook, free } = await started({ script: [{ calls: [call("wait")] }] });
    const arrived = notebook.arrival("wait");
    const prepared = await service.prepare("ada", {
      model: "test",
      input: "Go",
      background: true,
      tools: [free],
    });
    const { id } = await service.enqueue(prepared);
    await arrived;
    const response = await service.cancel("ada", id);
    expect(response.status).toBe("cancelled");
    expect(inShort(response.output)[1]).toMatch(/^wait: ! cancelled/);
    await expect.poll(() => notebook.aborted).toEqual(["wait"]);
  });

  test("of a client that has gone does, too", async () => {
    const { service, notebook, free } = await started({ script: [{ calls: [call("wait")] }] });
    const arrived = notebook.arrival("wait");
    const gone = new AbortController();
    const prepared = await service.prepare("ada", { model: "test", input: "Go", tools: [free] });
    const running = service.runPlain(prepared, gone.signal);
    await arrived;
    gone.abort();
    expect((await running).status).toBe("cancelled");
    await expect.poll(() => notebook.aborted).toEqual(["wait"]);
  });
});

describe("any interleaving of parallel calls", () => {
  test("keeps the numbers of events and items without a gap", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.array(fc.record({ name: fc.constantFrom("look", "pay", "fail"), round: fc.nat(5) }), {
            minLength: 1,
            maxLength: 5,
          }),
          { minLength: 1, maxLength: 3 },
        ),
        fc.boolean(),
        async (turns, parallel_tool_calls) => {
          const rounds = turns.flat().map(({ round }) => round);
          const script = turns.map((calls, turn) => ({
            text: `Turn ${turn}.`,
            calls: calls.map(({ name }, index) => call(name, turns.slice(0, turn).flat().length + index)),
          }));
          const setup = await started({
            script: [...script, "Done."],
            gate: async (_name, { n }) => {
              for (let left = rounds[Number(n)] ?? 0; left > 0; left -= 1)
                await new Promise((resolve) => setImmediate(resolve));
            },
          });
          const body = { input: "Go", tools: [setup.free], parallel_tool_calls };
          const response = checked(await stream(setup.service, body));
          const answers = response.output.flatMap((item) =>
            item.type === "mcp_call" ? [item.output ?? item.error?.content[0]?.text] : [],
          );
          const wanted = turns
            .flat()
            .map(({ name }, n) => (name === "fail" ? `No ${n}.` : `${name} ${n} done`));
          expect(answers).toEqual(wanted);
          await setup.mcp.close();
        },
      ),
      { numRuns: 25 },
    );
  });
});

describe("a background run whose process ends", () => {
  /** Cuts the power while a tool runs, and lets another process go on. */
  async function interrupted(name: string, { approved = false } = {}) {
    let isFirst = true;
    const { promise: off, resolve: cutOff } = Promise.withResolvers<void>();
    const notebook = await startNotebook({
      gate: async () => {
        if (!isFirst) return;
        isFirst = false;
        cutOff();
        await new Promise(() => {});
      },
    });
    const disk = memoryDisk();
    const makeMcp = async () => {
      const mcp = await McpExecutor.create({ servers: {}, allowPrivate: ["*"], onWarning: () => {} });
      onTestFinished(() => mcp.close());
      return mcp;
    };
    const tools = [
      {
        type: "mcp",
        server_label: "notes",
        server_url: notebook.url,
        require_approval: approved ? "always" : "never",
      },
    ];
    const script = [{ calls: [call(name)] }, "Done."];
    let answers = 0;
    const model = () => scriptedModel(() => script[answers++] ?? "Nothing more.");
    const body = { model: "test", background: true, tools };
    let hasPower = true;
    const dying = storeAround(disk.store, (_method, ask) => (hasPower ? ask() : new Promise(() => {})));
    const first = await startService({ model: model(), mcp: await makeMcp(), store: dying });
    let input: unknown = "Go";
    let previous: string | undefined;
    if (approved) {
      const asked = await first.runPlain(
        await first.prepare("ada", { ...body, background: false, input }),
        never,
      );
      input = [
        { type: "mcp_approval_response", approval_request_id: asked.output.at(-1)?.id, approve: true },
      ];
      previous = asked.id;
    }
    const request = { ...body, input, ...(previous && { previous_response_id: previous }) };
    const { id } = await first.enqueue(await first.prepare("ada", request));
    await off;
    hasPower = false;
    const store = await disk.restart();
    const next = await startService({ model: model(), mcp: await makeMcp(), store });
    const sink = collector();
    await next.follow("ada", id, -1, sink, never);
    expect(streamFlaws(toFrames(sink.events))).toEqual([]);
    return { notebook, response: lastResponse(sink.events) };
  }

  test("runs a call again of which the server says that it only reads", async () => {
    const { notebook, response } = await interrupted("look");
    expect(inShort(response.output).slice(1)).toEqual(["look: look 1 done", "message: Done."]);
    expect(notebook.calls).toHaveLength(2);
  });

  test("does not run another call again, and tells the model that nobody knows", async () => {
    const { notebook, response } = await interrupted("pay");
    expect(inShort(response.output)[1]).toMatch(/^pay: ! .*not known/);
    expect(notebook.calls).toHaveLength(1);
  });

  test("goes on with a call that a person has allowed: again if it only reads", async () => {
    const { notebook, response } = await interrupted("look", { approved: true });
    expect(inShort(response.output)).toEqual(["look: look 1 done", "message: Done."]);
    expect(notebook.calls).toHaveLength(2);
  });

  test("goes on with a call that a person has allowed: else with the word that nobody knows", async () => {
    const { notebook, response } = await interrupted("pay", { approved: true });
    expect(inShort(response.output)).toEqual([
      expect.stringMatching(/^pay: ! .*not known/),
      "message: Done.",
    ]);
    expect(notebook.calls).toHaveLength(1);
  });
});
