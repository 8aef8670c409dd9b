// A script: the prepared answers of a test, given in order, and whether the requests matched them.

import { checkOptions } from "../error/check.ts";
import { describe } from "../error/describe.ts";
import { ScriptError } from "./script-error.ts";

/** One answer, a function that makes it from the request, or just its text. */
export type Step<Answer, Request> =
  | string
  | Answer
  | ((request: Request) => Answer | string | PromiseLike<Answer | string>);

export interface ScriptSetup<Answer, Request> {
  /** The owner of the script, for messages. */
  readonly owner: string;
  /** The answers in order; a single one, not in a list, is given every time. */
  readonly steps: Step<Answer, Request> | readonly Step<Answer, Request>[];
  /** The fields that an answer may have. */
  readonly known: readonly string[];
}

export class Script<Answer extends object, Request> {
  readonly #owner: string;
  readonly #steps: readonly Step<Answer, Request>[] | undefined;
  readonly #everyTime: Step<Answer, Request> | undefined;
  readonly #known: readonly string[];
  readonly #failures: unknown[] = [];
  #asked = 0;

  constructor({ owner, steps, known }: ScriptSetup<Answer, Request>) {
    this.#owner = owner;
    this.#known = known;
    if (isList(steps)) {
      // A copy: the test may change its list.
      this.#steps = [...steps];
      for (const [index, step] of this.#steps.entries()) this.#check(`script[${index}]`, step);
    } else {
      this.#everyTime = steps;
      this.#check("script", steps);
    }
  }

  /** The next answer. If a function of the script throws, `assertUsedUp()` throws that error again. */
  async next(request: Request, describeRequest: () => string): Promise<Answer> {
    const index = this.#asked++;
    const step = this.#everyTime ?? this.#steps?.[index];
    try {
      if (step === undefined)
        throw new ScriptError(
          `${this.#owner} was asked ${index + 1} times, but its script has ${count(this.#steps?.length ?? 0)}. ` +
            `The request without an answer: ${describeRequest()}. ` +
            "Add an answer to the script, or see why it was asked again.",
        );
      if (typeof step !== "function") return asAnswer(step);
      const answer = await step(request);
      this.#check(`script[${index}]()`, answer);
      return asAnswer(answer);
    } catch (error) {
      this.#failures.push(error);
      throw error;
    }
  }

  /** Throws if answers are left, if there were more requests than answers, or if a function of the script threw. */
  assertUsedUp(): void {
    if (this.#failures.length > 0) throw this.#failures[0];
    const left = this.#steps?.slice(this.#asked) ?? [];
    if (left.length === 0) return;
    const lines = left.map((step, index) => `  script[${this.#asked + index}]: ${summarize(step)}`);
    throw new ScriptError(
      `${this.#owner} was asked ${this.#asked} times, but its script has ${count(this.#steps?.length ?? 0)}. ` +
        `Never asked for:\n${lines.join("\n")}\n` +
        "Take them out of the script, or see why it was not asked again.",
    );
  }

  #check(field: string, step: unknown): void {
    if (typeof step === "string" || typeof step === "function") return;
    checkOptions(field, step, this.#known);
  }
}

function asAnswer<Answer extends object>(answer: Answer | string): Answer {
  return typeof answer === "string" ? ({ text: answer } as unknown as Answer) : answer;
}

function isList<T>(steps: T | readonly T[]): steps is readonly T[] {
  return Array.isArray(steps);
}

function count(answers: number): string {
  return answers === 1 ? "1 answer" : `${answers} answers`;
}

function summarize(step: unknown): string {
  if (typeof step !== "object") return describe(step);
  const text = JSON.stringify(step, (_key, value: unknown) =>
    value instanceof Error ? String(value) : value,
  );
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}
