// A stand-in for a model, to try things without one: no network, no weights, the same answer every time.

import { Run } from "../async/run.ts";
import { sleep } from "../async/until-aborted.ts";
import { checkGrace, checkOptions, checkString } from "../error/check.ts";
import type { ModelProfile } from "../model/profile.ts";
import type { ModelDelta, ModelProvider, ModelRequest } from "../model/provider.ts";
import { answerTo, demoEndpoint } from "./answer.ts";
import { deltasOf } from "./deltas.ts";

export interface DemoModelOptions {
  /** Default: `demo`. */
  name?: string;
  /** Delay before each piece of an answer, to see it stream. Default: 0. */
  delayMs?: number;
}

const profile: ModelProfile = {
  name: "demo",
  reasoningFields: [],
  sendReasoning: "none",
  thinkTags: [],
  startsThinking: false,
  toolDialects: [],
  honoursToolChoice: true,
  outputMode: "native",
  text: "incremental",
};

/**
 * Makes a stand-in for a model that follows simple rules: it calculates, repeats, fails on demand, and calls the
 * tools that it is offered. If no rule fits, it introduces itself. It needs no network, and gives the same answer to
 * the same request.
 *
 * ```ts
 * const { text } = await query({ prompt: "What is 25 + 17?", options: { model: demoModel() } }).result();
 * ```
 */
export function demoModel(options: DemoModelOptions = {}): ModelProvider {
  checkOptions("options", options, ["name", "delayMs"]);
  const name = checkString("name", options.name ?? "demo");
  const delayMs = checkGrace("delayMs", options.delayMs ?? 0);
  return {
    name,
    endpoint: demoEndpoint,
    profile,
    stream: (request) => new Run((signal) => stream(request, delayMs, signal), { signal: request.signal }),
  };
}

async function* stream(
  request: ModelRequest,
  delayMs: number,
  signal: AbortSignal,
): AsyncGenerator<ModelDelta, void, void> {
  signal.throwIfAborted();
  for (const delta of deltasOf(answerTo(request), request)) {
    if (delayMs > 0 && delta.type.endsWith(".delta")) await sleep(delayMs, signal);
    signal.throwIfAborted();
    yield delta;
  }
}
