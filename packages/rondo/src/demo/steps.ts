// Takes the steps of a prompt: with the tools that are offered, or without.

import { objectIn } from "../json/object-in.ts";
import { sortedJson } from "../json/sorted-json.ts";
import type { OpenAITool } from "../tool/tool.ts";
import {
  expressionCall,
  namedTool,
  numbersNeeded,
  operationCall,
  type PlannedCall,
  planCall,
} from "./choose-tool.ts";
import { type AnsweredCall, type DemoConversation, numberIn } from "./conversation.ts";
import { materialOf, type Step, stepsOf } from "./prompt.ts";
import { calculate, evaluate, findSums } from "./sums.ts";

/** How a step ended. One without a value failed; `undefined` waits for a tool. */
type Outcome = { readonly sentence: string; readonly value?: number | string } | undefined;

const say = /^(?:please )?(?:say|repeat)(?: after me)?:? (.+)$/is;
const maxExcerpt = 600;

/** The model has no memory: it takes all steps each time, and finds the results of earlier calls again. */
export class Steps {
  readonly sentences: string[] = [];
  /** The last value of each chain of steps. */
  readonly values: (number | string)[] = [];
  /** The calls that are still to be made. */
  readonly calls: PlannedCall[] = [];
  /** How many calls the steps needed so far. */
  callsNeeded = 0;
  readonly #tools: readonly OpenAITool[];
  readonly #answered: AnsweredCall[];

  constructor({ prompt, answered, lastAnswer }: DemoConversation, tools: readonly OpenAITool[]) {
    this.#tools = tools;
    this.#answered = [...answered];
    let previous: number | string = lastAnswer;
    let isBlocked = false;
    for (const step of stepsOf(prompt)) {
      if (step.isNext && isBlocked) continue;
      const outcomes = this.#take(step, previous);
      for (const outcome of outcomes) {
        this.sentences.push(outcome?.sentence ?? "A tool did not return the result that I asked for.");
        isBlocked = outcome?.value === undefined;
        if (outcome?.value === undefined) continue;
        if (step.isNext) this.values.pop();
        previous = outcome.value;
        this.values.push(previous);
      }
    }
    // What no step asked for was demanded by the request's tool choice.
    for (const { name, result } of this.#answered) this.sentences.push(resultOf(name, result).sentence);
  }

  /** The outcomes of a step; none if no rule fits. */
  #take({ text, isNext }: Step, previous: number | string): Outcome[] {
    const [, said] = say.exec(text) ?? [];
    if (said !== undefined) {
      const words = said === "it" ? String(previous) : said.replace(/^"(.*)"$/s, "$1");
      // Nothing was said before that could be said again.
      return words.trim() === "" ? [] : [{ sentence: excerpt(words), value: words }];
    }
    const sums = findSums(text, numberIn(String(previous)), isNext);
    return sums.length > 0 ? sums.map((sum) => this.#calculate(sum)) : this.#useTool(text);
  }

  #calculate(sum: string): Outcome {
    let failure: Outcome;
    const numberFrom = (call: PlannedCall): number | undefined => {
      const outcome = this.#call(call);
      const number = outcome?.value === undefined ? undefined : numberIn(String(outcome.value));
      if (outcome && number === undefined) failure ??= { sentence: outcome.sentence };
      return number;
    };
    const whole = expressionCall(this.#tools, sum);
    const value = whole
      ? numberFrom(whole)
      : evaluate(sum, (operator, a, b) => {
          const call = operationCall(this.#tools, operator, a, b);
          return call ? numberFrom(call) : calculate(operator, a, b);
        });
    if (failure || value === undefined) return failure;
    return Number.isFinite(value)
      ? { sentence: `${sum} is ${value}.`, value }
      : { sentence: `${sum} has no result.` };
  }

  /** Calls the tool that the text names, once for each place if it lists some: "the weather in Paris and Oslo". */
  #useTool(text: string): Outcome[] {
    const tool = namedTool(this.#tools, text);
    const material = materialOf(text);
    // Without the numbers that it needs, a tool is talked about and not asked for.
    if (!tool || numbersNeeded(tool) > material.numbers.length) return [];
    const places = material.texts.flatMap((topic) => topic.split(/,? and |, /));
    const isList = places.every((place) => /^\p{Lu}/u.test(place));
    return (isList ? places.map((place) => [place]) : [material.texts]).map((texts) => {
      const call = planCall(tool, { ...material, texts });
      if (call) return this.#call(call);
      return { sentence: `I cannot make up arguments for the tool ${tool.function.name}.` };
    });
  }

  #call(call: PlannedCall): Outcome {
    this.callsNeeded += 1;
    const written = sortedJson(call.input);
    const index = this.#answered.findIndex((it) => it.name === call.name && it.arguments === written);
    const [found] = index < 0 ? [] : this.#answered.splice(index, 1);
    if (!found) this.calls.push(call);
    return found && resultOf(call.name, found.result);
  }
}

function resultOf(name: string, result: string): NonNullable<Outcome> {
  const error = objectIn(result)?.["error"];
  if (typeof error === "string") return { sentence: `The tool ${name} has failed: ${asSentence(error)}` };
  return { sentence: `${name} says: ${asSentence(result)}`, value: result };
}

function asSentence(text: string): string {
  return excerpt(text).replace(/([\p{L}\p{N}])$/u, "$1.");
}

export function excerpt(text: string): string {
  const short = text.trim();
  return short.length > maxExcerpt ? `${short.slice(0, maxExcerpt).toWellFormed()}…` : short;
}
