// One background run through any number of crashes: each process works on the same store until its power is cut.

import { type AnyTool, type Message, tool } from "rondo";
import { type ScriptedAnswer, type ScriptedModel, scriptedModel } from "rondo/testing";
import type { StreamEvent } from "../../protocol/events.ts";
import type { ResponseObject } from "../../protocol/response.ts";
import type { Store } from "../../store/store.ts";
import { memoryStore } from "../../store/testkit/memory.ts";
import { powerCut } from "../../store/testkit/store-around.ts";
import type { Responses } from "../responses.ts";
import { collector, lastResponse, never, type ServiceSetup, startService } from "./service.ts";

/** What the model says, turn by turn; a piece of text is followed by a pause, in which it is written down. */
export type CrashScript = readonly (Omit<ScriptedAnswer, "thinking" | "text" | "chunks"> & {
  readonly thinking?: readonly string[];
  readonly text?: readonly string[];
})[];

export interface Cut {
  /** At which commit of its process. */
  readonly at: number;
  readonly isKept: boolean;
}

/** A tool was called: with which `n`, by which process, and under which key. */
export interface Execution {
  readonly n: number;
  readonly process: number;
  readonly key: string;
}

export interface CrashResult {
  readonly service: Responses;
  readonly models: readonly ScriptedModel[];
  /** What a client has seen that came back after each crash. */
  readonly events: readonly StreamEvent[];
  readonly response: ResponseObject;
  readonly executions: readonly Execution[];
  /** The events of the log when each process ended. */
  readonly logs: readonly (readonly StreamEvent[])[];
  /** How many processes were cut. */
  readonly cuts: number;
}

export interface CrashSetup extends Partial<Omit<ServiceSetup, "model" | "store" | "tools">> {
  readonly script: CrashScript;
  readonly body?: object;
}

/** Where the data of all processes is: `restart` makes it free for the next one. */
export interface Disk {
  readonly store: Store;
  restart(): Promise<Store>;
}

export function memoryDisk(): Disk {
  let nowMs = 1_000_000;
  const store = memoryStore({ now: () => nowMs });
  return {
    store,
    restart: async () => {
      nowMs += 1_000_000; // all leases are over
      return store;
    },
  };
}

const clientTool = {
  type: "function",
  name: "weather",
  parameters: { type: "object", properties: { n: { type: "integer" } }, required: ["n"] },
};

export async function runWithCrashes(
  { script, body, ...setup }: CrashSetup,
  cuts: readonly Cut[],
  disk: Disk = memoryDisk(),
): Promise<CrashResult> {
  const executions: Execution[] = [];
  const models: ScriptedModel[] = [];
  const events: StreamEvent[] = [];
  const logs: StreamEvent[][] = [];
  let store = disk.store;
  let id: string | undefined;
  for (const [process, cut] of [...cuts, undefined].entries()) {
    const power = cut ? powerCut(store, cut) : { store, isOff: new Promise<void>(() => {}) };
    const model = modelOf(script);
    models.push(model);
    const tools = toolsOf(process, executions);
    const service = await startService({ ...setup, model, tools, store: power.store });
    if (id === undefined) {
      const input = { model: "test", input: "Go", background: true, tools: [clientTool], ...body };
      ({ id } = await service.enqueue(await service.prepare("ada", input)));
    }
    const sink = collector();
    const followed = service.follow("ada", id, events.at(-1)?.sequence_number ?? -1, sink, never);
    const hasEnded = await Promise.race([followed.then(() => true), power.isOff.then(() => false)]);
    events.push(...sink.events);
    if (hasEnded)
      return { service, models, events, response: lastResponse(events), executions, logs, cuts: process };
    store = await disk.restart();
    const log = await store.events("ada", id, -1, 10_000);
    logs.push(log.map(({ data }) => JSON.parse(data) as StreamEvent));
  }
  throw new Error("The last process is never cut.");
}

/** A model without a memory: what it says next depends on the conversation alone. */
function modelOf(script: CrashScript): ScriptedModel {
  return scriptedModel(({ messages }) => {
    const turn = answersIn(messages);
    const { thinking, text, ...answer } = script[turn] ?? { text: ["Nothing more."] };
    const pause = pauses();
    const pieces = (given: readonly string[] = []) => given.flatMap((piece) => [piece, pause()]);
    return { thinking: pieces(thinking), text: pieces(text), ...answer };
  });
}

function answersIn(messages: readonly Message[]): number {
  const start = messages.findLastIndex(({ role }) => role === "user");
  return messages.slice(start).filter(({ role }) => role === "assistant").length;
}

/** Promises that are kept one after the other, each a few rounds of the event loop after the one before. */
function pauses(): () => Promise<void> {
  let last = Promise.resolve();
  return () => {
    last = last.then(() => rounds());
    return last;
  };
}

async function rounds(count = 3): Promise<void> {
  for (let round = 0; round < count; round += 1) await new Promise((resolve) => setImmediate(resolve));
}

/** `pay` must not be run twice, `look` may; `fail` always fails. `wipe` needs no input. */
function toolsOf(process: number, executions: Execution[]): AnyTool[] {
  const work = (name: string, idempotent: boolean) =>
    tool(
      { name, description: name, input: { n: Number }, idempotent, registry: false },
      async ({ n }, { idempotencyKey }) => {
        executions.push({ n, process, key: idempotencyKey });
        await rounds(n % 2 === 0 ? 1 : 4);
        if (name === "fail") throw new Error(`No ${n}.`);
        return `${name} ${n} done`;
      },
    );
  const wipe = tool(
    { name: "wipe", description: "wipe", input: {}, idempotent: true, registry: false },
    async (_input, { idempotencyKey }) => {
      executions.push({ n: -1, process, key: idempotencyKey });
    },
  );
  return [work("pay", false), work("look", true), work("fail", false), wipe];
}
