// Whatever a run meets, its trace is well formed: random models, faults, tools, aborts and ways to leave.

import fc from "fast-check";
import { expect, test } from "vitest";
import { Agent, fallback, openaiCompatible, Turn, tool } from "../index.ts";
import { run } from "../loop.ts";
import type { ModelProvider } from "../models.ts";
import { type ScriptedAnswer, scriptedModel } from "../testing/index.ts";
import { collectWarnings } from "../testkit/warnings.ts";
import { traceFlaws } from "./testkit/trace-flaws.ts";
import type { TraceEvent } from "./trace.ts";

const registry = false;
const tools = [
  tool({ name: "fine", description: "", registry, input: { n: Number } }, async ({ n }) => n),
  tool({ name: "fails", description: "", registry }, async () => {
    throw new Error("broken");
  }),
  tool({ name: "locked", description: "", registry, lock: true }, async () => {
    await new Promise((resolve) => setImmediate(resolve));
  }),
  tool({ name: "streams", description: "", registry }, async function* () {
    yield 1;
    await new Promise((resolve) => setImmediate(resolve));
    yield 2;
  }),
  tool({ name: "hangs", description: "", registry, timeoutMs: 2 }, async (_, { signal }) => {
    await new Promise((_resolve, reject) => {
      signal.addEventListener("abort", () => reject(signal.reason));
    });
  }),
];

const call = fc.record({
  name: fc.constantFrom("fine", "fails", "locked", "streams", "hangs", "FINE", "unknown"),
  arguments: fc.constantFrom("{}", '{"n":1}', '{"n":"1"}', "{n: 1,}", "garbage"),
});
const answer: fc.Arbitrary<ScriptedAnswer> = fc.record(
  {
    thinking: fc.constant("Hm."),
    text: fc.constantFrom("Hello.", ["Hel", "lo."]),
    calls: fc.array(call, { minLength: 1, maxLength: 3 }),
    chunks: fc.constant([{ type: "warning", message: "Odd." }] as const),
    finishReason: fc.constantFrom("stop", "length", "tool_calls"),
  },
  { requiredKeys: [] },
);
const scripted = fc.oneof(
  { weight: 5, arbitrary: answer },
  { weight: 1, arbitrary: answer.map((it) => ({ ...it, error: new Error("gone") })) },
);
const steps = fc.array(scripted, { minLength: 1, maxLength: 5 });
/** What a server does with one request. */
const reply = fc.constantFrom("text", "call", "busy", "refused", "broken", "nonsense");
type Reply = "text" | "call" | "busy" | "refused" | "broken" | "nonsense";

const model = fc.oneof(
  fc.record({ kind: fc.constant("scripted" as const), steps }),
  fc.record({
    kind: fc.constant("http" as const),
    steps: fc.array(reply as fc.Arbitrary<Reply>, { maxLength: 6 }),
  }),
);
type ModelPlan = typeof model extends fc.Arbitrary<infer T> ? T : never;

function toModel(plan: ModelPlan): ModelProvider {
  if (plan.kind === "scripted") return scriptedModel(plan.steps);
  const steps = [...plan.steps];
  return openaiCompatible({
    baseURL: "http://127.0.0.1:9/v1",
    model: "m",
    server: "vllm",
    maxConcurrency: 1,
    retry: { attempts: 3, delayMs: 0.1, maxDelayMs: 0.1 },
    fetch: async () => replyTo(steps.shift() ?? "text"),
  });
}

function replyTo(step: Reply): Response {
  const frame = (delta: object) => `data: ${JSON.stringify({ choices: [{ index: 0, delta }] })}\n\n`;
  const text = frame({ content: "Hé" }) + frame({ content: "llo" });
  const calls = [{ index: 0, id: "c1", function: { name: "fine", arguments: '{"n":1}' } }];
  switch (step) {
    case "busy":
      return new Response("busy", { status: 503 });
    case "refused":
      return new Response("no", { status: 400 });
    case "nonsense":
      return new Response("<html>");
    case "broken":
      return new Response(pieces(text, true));
    case "call":
      return new Response(pieces(`${frame({ tool_calls: calls })}data: [DONE]\n\n`));
    default:
      return new Response(pieces(`${text}data: [DONE]\n\n`));
  }
}

/** The bytes in small pieces, which break characters. */
function pieces(text: string, breaks = false): ReadableStream<Uint8Array> {
  const bytes = new TextEncoder().encode(text);
  let at = 0;
  return new ReadableStream({
    pull(controller) {
      const piece = bytes.subarray(at, at + 31);
      at += 31;
      if (piece.length > 0) controller.enqueue(piece);
      else if (breaks) controller.error(new Error("reset"));
      else controller.close();
    },
  });
}

const plan = fc.record({
  models: fc.array(model, { minLength: 1, maxLength: 3 }),
  parallelToolCalls: fc.boolean(),
  maxToolIterations: fc.constantFrom(0, 1, 10),
  asksForFinalAnswer: fc.boolean(),
  /** When the run is stopped from outside, in events of the run or of its trace. */
  stop: fc.option(fc.record({ by: fc.constantFrom("abort", "leave", "tracer"), at: fc.nat(14) })),
  wantsChunks: fc.boolean(),
  throwsAt: fc.option(fc.nat(10)),
});
type Plan = typeof plan extends fc.Arbitrary<infer T> ? T : never;

test("the trace of a loop is well formed however it goes and ends", async () => {
  collectWarnings();
  await fc.assert(
    fc.asyncProperty(plan, async (planned) => {
      // Two at a time, which share the one slot of their endpoint.
      await Promise.all([checkRun(planned), checkRun({ ...planned, stop: null })]);
    }),
    { numRuns: 250 },
  );
});

async function checkRun({ models, stop, wantsChunks, throwsAt, ...options }: Plan): Promise<void> {
  const stopping = new AbortController();
  const events: TraceEvent[] = [];
  const tracer = {
    wantsChunks,
    record(event: TraceEvent) {
      events.push(event);
      if (stop?.by === "tracer" && events.length > stop.at) stopping.abort();
      if (events.length === throwsAt) throw new Error("a tracer of little use");
    },
  };
  const [first, ...others] = models.map(toModel) as [ModelProvider, ...ModelProvider[]];
  let count = 0;
  try {
    const loop = run([{ role: "user", content: "Go." }], {
      ...options,
      model: fallback(first, ...others),
      tools,
      onTrace: tracer,
      signal: stopping.signal,
      graceMs: 5,
    });
    for await (const _ of loop) {
      if (count++ !== stop?.at) continue;
      if (stop.by === "leave") break;
      if (stop.by === "abort") stopping.abort();
    }
  } catch {
    // Errors of models end a run.
  }
  const seen = events.length;
  expect(traceFlaws(events)).toEqual([]);
  await new Promise((resolve) => setImmediate(resolve));
  expect(events.length).toBe(seen);
}

test("the trace of an agent is well formed, with prompts and turns at the same time", async () => {
  collectWarnings();
  const agentPlan = fc.record({
    steps,
    turns: fc.array(fc.constantFrom("ask", "ask", "fine", "fails", "locked", "streams"), { maxLength: 5 }),
    concurrency: fc.constantFrom(1, 3),
    attempts: fc.constantFrom(1, 2),
    stop: fc.option(fc.record({ by: fc.constantFrom("abort", "leave"), at: fc.nat(6) })),
  });
  await fc.assert(
    fc.asyncProperty(agentPlan, async ({ steps: script, turns, concurrency, attempts, stop }) => {
      const events: TraceEvent[] = [];
      const stopping = new AbortController();
      const agent = new Agent({
        name: "worker",
        model: scriptedModel(script),
        tools,
        concurrency,
        retries: { attempts, delayMs: 0.1, maxDelayMs: 0.1 },
        onTrace: (event) => void events.push(event),
        registry,
      });
      for (const name of turns)
        if (name === "ask") await agent.ask("Go.");
        else await agent.put(new Turn(toolNamed(name), { n: 1 }));
      let count = 0;
      try {
        for await (const _ of agent.run({ signal: stopping.signal, graceMs: 5 })) {
          if (count++ !== stop?.at) continue;
          if (stop.by === "leave") break;
          stopping.abort();
        }
      } catch {
        // A turn failed.
      }
      expect(traceFlaws(events)).toEqual([]);
      expect(events[0]).toMatchObject({ type: "run.started", name: "worker" });
    }),
    { numRuns: 150 },
  );
});

function toolNamed(name: string) {
  return tools.find((it) => it.name === name) as (typeof tools)[number];
}
