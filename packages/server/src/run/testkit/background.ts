// Background runs around a scripted model: put into the queue, and followed by clients that keep what they are sent.

import { type ScriptedStep, scriptedModel } from "rondo/testing";
import { onTestFinished } from "vitest";
import type { Responses } from "../responses.ts";
import { collector, never, type ServiceSetup, startService } from "./service.ts";
import { add } from "./tools.ts";

/** For an answer that never ends. */
export const forever: Promise<never> = new Promise<never>(() => {});

/** A service whose runs may end, or be left, before its script is used up. */
export async function start(
  script: ScriptedStep | readonly ScriptedStep[],
  setup: Partial<ServiceSetup> = {},
) {
  const model = scriptedModel(script);
  const service = await startService({ model, tools: [add], ...setup });
  onTestFinished(() => service.drain(0));
  return { model, service };
}

export async function enqueue(service: Responses, body: object = {}) {
  const request = { model: "test", input: "Go", background: true, ...body };
  return service.enqueue(await service.prepare("ada", request));
}

export function follow(service: Responses, id: string, after = -1, signal = never) {
  const sink = collector();
  return { events: sink.events, ended: service.follow("ada", id, after, sink, signal) };
}

/** Resolves when the response ended. */
export const ended = (service: Responses, id: string) => follow(service, id).ended;
