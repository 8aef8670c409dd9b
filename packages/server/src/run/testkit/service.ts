// The service of a test: a scripted model, a store, and a client that keeps what it is sent.

import type { AnyTool, ModelProvider } from "rondo";
import type { Frame } from "../../conformance/testkit/frames.ts";
import type { ToolExecutor } from "../../executor/executor.ts";
import { Executors } from "../../executor/executors.ts";
import { notFound } from "../../protocol/api-error.ts";
import type { StreamEvent } from "../../protocol/events.ts";
import type { Store } from "../../store/store.ts";
import { memoryStore } from "../../store/testkit/memory.ts";
import { Responses, type ResponsesOptions } from "../responses.ts";

export interface ServiceSetup extends Partial<Omit<ResponsesOptions, "models" | "store" | "executors">> {
  readonly model: ModelProvider;
  readonly store?: Store;
  readonly tools?: readonly AnyTool[];
  readonly executors?: readonly ToolExecutor[];
  readonly mcp?: ToolExecutor;
  /** Gets what the log would get. */
  readonly warnings?: string[];
}

export const never = new AbortController().signal;

export async function startService(setup: ServiceSetup) {
  const { model, store = memoryStore(), warnings = [], tools = [], executors = [], mcp, ...rest } = setup;
  const options: ResponsesOptions = {
    store,
    models: {
      resolve: async (name) => {
        if (name !== undefined && name !== "test") throw notFound(`no model ${name}`, "model_not_found");
        return { name: "test", provider: model };
      },
      list: async () => [{ id: "test", ownedBy: "rondo" }],
    },
    executors: new Executors({ tools, executors, mcp }),
    maxAgenticTurns: 10,
    maxRepeats: 3,
    asksForFinalAnswer: false,
    limits: { maxItems: 1000, maxTools: 128 },
    isStrict: false,
    conversations: "queue",
    runs: { concurrency: 4, leaseMs: 30_000, maxAttempts: 10 },
    observer: {
      warn: (message, fields) => warnings.push(`${message} ${JSON.stringify(fields)}`),
      loopEvent: () => {},
      traceEvent: () => {},
      runEnded: () => {},
    },
    ...rest,
  };
  return Responses.start(options);
}

/** A sink that keeps the events. */
export function collector() {
  const events: StreamEvent[] = [];
  return {
    events,
    drained: undefined,
    send: (_type: string, json: string) => void events.push(JSON.parse(json) as StreamEvent),
  };
}

/** A request's events, and its last response. */
export async function stream(service: Responses, body: object, owner = "ada") {
  const sink = collector();
  const prepared = await service.prepare(owner, { model: "test", stream: true, ...body });
  await service.runStreamed(prepared, sink, never);
  return { events: sink.events, response: lastResponse(sink.events) };
}

export async function plain(service: Responses, body: object, owner = "ada") {
  return service.runPlain(await service.prepare(owner, { model: "test", ...body }), never);
}

/** A background run, followed to its end. */
export async function background(service: Responses, body: object, owner = "ada") {
  const sink = collector();
  const prepared = await service.prepare(owner, { model: "test", background: true, ...body });
  const queued = await service.enqueue(prepared);
  await service.follow(owner, queued.id, -1, sink, never);
  return { queued, events: sink.events, response: lastResponse(sink.events) };
}

export function lastResponse(events: readonly StreamEvent[]) {
  const last = events.at(-1);
  if (!last || !("response" in last)) throw new Error(`The stream ended in ${JSON.stringify(last)}`);
  return last.response;
}

/** Events as the frames that a client gets. */
export function toFrames(events: readonly StreamEvent[], end: readonly Frame[] = done): Frame[] {
  return [...events.map((event) => ({ event: event.type, data: event })), ...end];
}

const done: readonly Frame[] = [{ event: undefined, data: "[DONE]" }];
