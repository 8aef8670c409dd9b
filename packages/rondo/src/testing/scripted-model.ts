// A model that gives scripted answers, and fails if it gets more or fewer requests.

import { Run } from "../async/run.ts";
import { sleep, untilAborted } from "../async/until-aborted.ts";
import { checkOptions, checkString } from "../error/check.ts";
import { copyData } from "../json/copy.ts";
import type { ModelProfile } from "../model/profile.ts";
import type { ModelDelta, ModelProvider, ModelRequest } from "../model/provider.ts";
import { Arrivals } from "./arrivals.ts";
import { Script, type Step } from "./script.ts";
import { deltasOf, isPromise, type ScriptedAnswer, scriptedAnswerFields } from "./scripted-answer.ts";

/** An answer, a function that makes it from the request (and may assert on it), or just its text. */
export type ScriptedStep = Step<ScriptedAnswer, ModelRequest>;

export interface ScriptedModelOptions {
  /** Default: `scripted`. */
  name?: string;
  /** Default: `scripted://model`. */
  endpoint?: string;
  /** Overrides of a profile without quirks. Default: none. */
  profile?: Partial<ModelProfile>;
}

/** A deep copy of a request, taken on arrival; only the signal is the original. */
export interface ScriptedRequest extends Readonly<Omit<ModelRequest, "onSent" | "tracer">> {
  /** Whether it was left or aborted before its answer ended. */
  readonly wasLeft: boolean;
  /** Resolves when its answer ended: finished, failed, left or aborted. */
  readonly ended: Promise<void>;
}

const withoutQuirks: ModelProfile = {
  name: "scripted",
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
 * Makes a model that gives the answers of `script` in order, one for each request. A single answer, not in a
 * list, is given every time.
 *
 * ```ts
 * using model = scriptedModel([{ calls: [{ name: "add", input: { a: 1, b: 2 } }] }, "The sum is 3."]);
 * ```
 *
 * A request beyond the script throws a `ScriptError`. `assertUsedUp()`, and leaving the `using` block, throw one if
 * answers are left, or if there were more requests, even if that error was caught.
 */
export function scriptedModel(
  script: ScriptedStep | readonly ScriptedStep[],
  options: ScriptedModelOptions = {},
): ScriptedModel {
  return new ScriptedModel(script, options);
}

export class ScriptedModel implements ModelProvider, Disposable {
  readonly name: string;
  readonly endpoint: string;
  readonly profile: ModelProfile;
  readonly #script: Script<ScriptedAnswer, ModelRequest>;
  readonly #requests = new Arrivals<ScriptedRequest>();
  #callCount = 0;

  constructor(script: ScriptedStep | readonly ScriptedStep[], options: ScriptedModelOptions = {}) {
    checkOptions("options", options, ["name", "endpoint", "profile"]);
    this.name = checkString("name", options.name ?? "scripted");
    this.endpoint = checkString("endpoint", options.endpoint ?? "scripted://model");
    this.profile = { ...withoutQuirks, ...options.profile };
    const owner = `The scripted model '${this.name}'`;
    this.#script = new Script({ owner, steps: script, known: scriptedAnswerFields });
  }

  /** The requests so far, in the order in which their streams were started. */
  get requests(): readonly ScriptedRequest[] {
    return this.#requests.list;
  }

  /** The request at `index`, counted from 0, as soon as it arrives. */
  request(index: number): Promise<ScriptedRequest> {
    return this.#requests.at(index);
  }

  stream(request: ModelRequest): AsyncIterable<ModelDelta> {
    return new Run((signal) => this.#answer(request, signal), { signal: request.signal });
  }

  /** Throws unless the requests match the script. */
  assertUsedUp(): void {
    this.#script.assertUsedUp();
  }

  [Symbol.dispose](): void {
    this.assertUsedUp();
  }

  async *#answer(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelDelta, void, void> {
    signal.throwIfAborted();
    const { promise: ended, resolve: end } = Promise.withResolvers<void>();
    const { onSent: _, tracer: __, ...data } = request;
    const record = { ...copyData(data), wasLeft: false, ended };
    this.#requests.add(record);
    let isOver = false;
    try {
      const answer = await untilAborted(
        this.#script.next(record, () => lastMessageOf(request)),
        signal,
      );
      if (answer.delayMs) await sleep(answer.delayMs, signal);
      if (answer.waitFor) await untilAborted(answer.waitFor, signal);
      for (const delta of deltasOf(answer, () => `call_${++this.#callCount}`)) {
        signal.throwIfAborted();
        // A reader that stops at `finished` has not left early.
        isOver = !isPromise(delta) && delta.type === "finished";
        if (isPromise(delta)) await untilAborted(delta, signal);
        else yield delta;
      }
      if (answer.error !== undefined) throw answer.error;
    } catch (error) {
      isOver = error !== signal.reason;
      throw error;
    } finally {
      record.wasLeft = !isOver;
      end();
    }
  }
}

function lastMessageOf({ messages }: ModelRequest): string {
  const last = JSON.stringify(messages.at(-1)) ?? "no messages";
  return `${messages.length} messages, the last one ${last.length > 200 ? `${last.slice(0, 200)}…` : last}`;
}
