import { BrokenStreamError, ModelServerError } from "rondo/errors";
import type { ScriptedStep } from "rondo/testing";
import { describe, expect, test, vi } from "vitest";
import type { ConfigInput } from "../config/schema.ts";
import type { Outcome, TestClient } from "./testkit/client.ts";
import { clients } from "./testkit/clients.ts";
import type { ChangeBody } from "./testkit/exchanges.ts";
import { serverTools, start, type TestServer } from "./testkit/start.ts";

const endpoint = "http://model.example";
const prompt = "Work!";

interface Fault {
  readonly name: string;
  readonly script: readonly ScriptedStep[];
  readonly model?: string;
  readonly changeBody?: ChangeBody;
  /** Part of what the client's error says. */
  readonly message: string;
  /** The status of a plain answer, and of a stream that could not begin. */
  readonly status: number;
  /** Whether a stream has begun by then: it then ends as failed. */
  readonly isInStream: boolean;
}

const faults: readonly Fault[] = [
  {
    name: "a model server that fails",
    script: [{ error: new ModelServerError({ endpoint, status: 500, said: "out of memory" }) }],
    message: "out of memory",
    status: 502,
    isInStream: true,
  },
  {
    name: "a model server that breaks off",
    script: [{ text: "Half", error: new BrokenStreamError(endpoint, "Half", new Error("reset")) }],
    message: endpoint,
    status: 502,
    isInStream: true,
  },
  {
    name: "a model that nobody has",
    script: [],
    model: "nobody",
    message: "nobody",
    status: 404,
    isInStream: false,
  },
  {
    name: "a request that is wrong",
    script: [],
    changeBody: (body) => ({ ...body, input: 5 }),
    message: "input",
    status: 400,
    isInStream: false,
  },
];

interface Limit {
  readonly name: string;
  readonly script: readonly ScriptedStep[];
  readonly config?: ConfigInput;
  readonly text: string;
  /** How the clients may put it. */
  readonly finishes: readonly string[];
  readonly details: object;
}

const limits: readonly Limit[] = [
  {
    name: "an answer that is cut off",
    script: [{ text: "Once upon a", finishReason: "length" }],
    text: "Once upon a",
    finishes: ["length"],
    details: { reason: "max_output_tokens" },
  },
  {
    name: "a run that takes too many turns",
    script: [
      { calls: [{ name: "clock", input: { city: "Rome" } }] },
      { text: "And again.", calls: [{ name: "broken" }] },
    ],
    config: { maxAgenticTurns: 2 },
    text: "And again.",
    // The AI SDK knows the API's own reasons only.
    finishes: ["incomplete max_agentic_turns", "other"],
    details: { reason: "max_agentic_turns" },
  },
];

describe.each(clients)("$name", (client) => {
  test.each(faults)(
    "is told of $name",
    async ({ script, model, changeBody, message, status, isInStream }) => {
      const server = await start({ script, changeBody });
      const { signal } = new AbortController();
      const working = client.work(server, { prompt, model, tools: [], signal });
      await expect(working).rejects.toThrow(client.hidesErrors ? /./ : message);

      expect(server.exchanges.flaws()).toEqual([]);
      server.model.assertUsedUp();
      const isFailedStream = isInStream && client.isStreamed;
      expect(server.exchanges.created.map((exchange) => exchange.status)).toEqual([
        isFailedStream ? 200 : status,
      ]);
      const [answer] = server.exchanges.responses;
      expect(answer.status).toBe(isFailedStream ? "failed" : undefined);
      expect(answer.error.message).toContain(message);
    },
  );

  test.each(limits)("is told of $name", async ({ script, config, text, finishes, details }) => {
    const server = await start({ script, tools: serverTools, config });
    const { signal } = new AbortController();
    const working = client.work(server, { prompt, tools: [], signal });
    const outcome = await working.catch((error: Error) => error);

    expect(server.exchanges.flaws()).toEqual([]);
    server.model.assertUsedUp();
    expect(server.exchanges.responses).toMatchObject([{ status: "incomplete", incomplete_details: details }]);
    const words = client.throwsAtIncomplete
      ? ["incomplete"]
      : finishes.map((finish) => `${text} (${finish})`);
    expect(words).toContain(toldBy(outcome));
  });

  test("can leave in the middle, which cancels the run", async () => {
    const server = await start({ script: [{ text: ["Hel", new Promise(() => {})] }] });
    await leave(client, server);
    const request = await server.model.request(0);
    await request.ended;
    expect(request.wasLeft).toBe(true);
    const kept = client.isStateless ? [] : ["cancelled"];
    await vi.waitFor(async () => expect(await storedStatuses(server)).toEqual(kept));
    expect(server.exchanges.flaws()).toEqual([]);
  });
});

function toldBy(outcome: Outcome | Error): string {
  if (!(outcome instanceof Error)) return `${outcome.text} (${outcome.finishes.join()})`;
  return outcome.message.includes("incomplete") ? "incomplete" : outcome.message;
}

/** Aborts as soon as there is something to see: a piece of text, or for plain clients the model's work. */
async function leave(client: TestClient, server: TestServer): Promise<void> {
  const controller = new AbortController();
  const leaveNow = () => controller.abort(new Error("enough"));
  if (!client.isStreamed) void server.model.request(0).then(leaveNow);
  const { signal } = controller;
  const working = client.work(server, { prompt, tools: [], signal, onText: leaveNow });
  await expect(working).rejects.toThrow(/abort|enough/i);
}

async function storedStatuses({ baseURL, fetch }: TestServer): Promise<string[]> {
  const list = (await (await fetch(`${baseURL}/responses`)).json()) as { data: { status: string }[] };
  return list.data.map(({ status }) => status);
}
