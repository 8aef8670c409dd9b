// A service around a scripted model, which must have said all of its script when the test ends.
import type { Message } from "rondo";
import { type ScriptedStep, scriptedModel } from "rondo/testing";
import { onTestFinished } from "vitest";
import { type ServiceSetup, startService } from "./service.ts";
import { add, broken, slow } from "./tools.ts";

export async function startScripted(
  script: ScriptedStep | readonly ScriptedStep[],
  setup: Partial<ServiceSetup> = {},
) {
  const model = scriptedModel(script);
  const service = await startService({ model, tools: [add, broken, slow], ...setup });
  onTestFinished(async () => {
    await service.drain(0);
    model.assertUsedUp();
  });
  return { model, service };
}

export function toolMessages(messages: readonly Message[]) {
  return messages.filter((message) => message.role === "tool");
}
