// Does tasks: what each comes to, by tools where they are offered and by its own means where not.

import { numberIn } from "./conversation.ts";
import { calculate, type Expression, operatorsIn, withPrevious, written } from "./expression.ts";
import { callFor, expressionCall } from "./math-tools.ts";
import { findSentences } from "./sentences.ts";
import { materialOf, type Task } from "./tasks.ts";
import { type PlannedCall, plannedCall } from "./tool-input.ts";
import { findTool } from "./tool-names.ts";
import type { Workbench } from "./workbench.ts";

/** `waiting` for a tool's result; what comes after it in a chain has to wait too. */
export type Outcome =
  | { readonly state: "waiting" }
  | { readonly state: "failed"; readonly sentence: string }
  | { readonly state: "done"; readonly sentence: string; readonly value: number | string };

const waiting: Outcome = { state: "waiting" };
const maxResultLength = 600;
const timeWords = ["time", "clock", "date", "datetime", "now", "today"];
const searchWords = ["search", "find", "grep", "lookup", "query", "retrieve", "retrieval"];
const pronoun = /^(?:it|that|this|the result|the answer)$/i;

/** The outcomes of a chain, up to the first that is not done. */
export function followChain(
  chain: readonly Task[],
  bench: Workbench,
  earlier: number | string | undefined,
): Outcome[] {
  const outcomes: Outcome[] = [];
  let previous = earlier;
  for (const task of chain) {
    const outcome = outcomeOf(task, bench, previous);
    outcomes.push(outcome);
    if (outcome.state !== "done") break;
    previous = outcome.value;
  }
  return outcomes;
}

function outcomeOf(task: Task, bench: Workbench, previous: number | string | undefined): Outcome {
  const meant = (text: string) => (pronoun.test(text) && previous !== undefined ? String(previous) : text);
  switch (task.kind) {
    case "calculate":
      return calculation(task.expression, bench, previous);
    case "time":
      return telling(task.text, bench);
    case "search":
      return searching(meant(task.words), bench);
    case "echo":
      return echoing(meant(task.text), bench);
    default:
      return using(task, bench);
  }
}

function calculation(asked: Expression, bench: Workbench, previous: number | string | undefined): Outcome {
  const before = typeof previous === "string" ? numberIn(previous) : previous;
  const expression = withPrevious(asked, before ?? 0);
  const text = written(expression);
  // One call for all of it, unless each operator has a tool of its own.
  const hasOwnTools = operatorsIn(expression).every((operator) => callFor(bench.tools, operator, 1, 1));
  const wholeCall = hasOwnTools ? undefined : expressionCall(bench.tools, text);
  const outcome = wholeCall ? numberFrom(wholeCall, bench) : resultOf(expression, bench);
  return outcome.state === "done" ? { ...outcome, sentence: `${text} is ${outcome.value}.` } : outcome;
}

function resultOf(expression: Expression, bench: Workbench): Outcome {
  if (expression.kind === "number") return done(expression.value, "");
  if (expression.kind === "previous") return failed("There is no result to go on from.");
  const { operator } = expression;
  // Both sides are looked at before either is waited for, so that their calls are made at once.
  const [left, right] = [resultOf(expression.left, bench), resultOf(expression.right, bench)];
  if (left.state !== "done") return left;
  if (right.state !== "done") return right;
  const [a, b] = [Number(left.value), Number(right.value)];
  const call = callFor(bench.tools, operator, a, b);
  if (call) return numberFrom(call, bench);
  const value = calculate(operator, a, b);
  return Number.isFinite(value) ? done(value, "") : failed(`${written(expression)} has no result.`);
}

function numberFrom(call: PlannedCall, bench: Workbench): Outcome {
  const outcome = asking(call, bench);
  if (outcome.state !== "done") return outcome;
  const value = numberIn(String(outcome.value));
  return value === undefined ? failed(outcome.sentence) : done(value, outcome.sentence);
}

function telling(text: string, bench: Workbench): Outcome {
  const tool = findTool(bench.tools, timeWords);
  const call = tool && plannedCall(tool, materialOf(text));
  if (call) return asking(call, bench);
  return failed("I have no clock: offer me a tool with “time” or “date” in its name, and I will ask it.");
}

function searching(words: string, bench: Workbench): Outcome {
  const tool = findTool(bench.tools, searchWords);
  const call = tool && plannedCall(tool, { texts: [words], numbers: [], said: words });
  if (call) return asking(call, bench);
  const found = findSentences(words, bench.texts);
  if (found.length === 0) return failed(`I find no “${excerpt(words)}” in this conversation.`);
  return done(found[0] as string, `I find “${excerpt(words)}” here: ${withStop(found.join(" … "))}`);
}

function using({ tool, material }: Task & { kind: "use" }, bench: Workbench): Outcome {
  const call = plannedCall(tool, material);
  if (call) return asking(call, bench);
  return failed(`I cannot make up arguments for the tool ${tool.function.name}.`);
}

function echoing(text: string, bench: Workbench): Outcome {
  const tool = findTool(bench.tools, ["echo", "repeat", "say"]);
  const call = tool && plannedCall(tool, { texts: [text], numbers: [], said: text });
  if (call) return asking(call, bench);
  return done(text, excerpt(text));
}

function asking(call: PlannedCall, bench: Workbench): Outcome {
  const result = bench.ask(call);
  if (!result) return waiting;
  const { name } = call.tool.function;
  if (result.isFailure) return failed(failureSentence(name, result.text));
  return done(result.text, resultSentence(name, result.text));
}

export function resultSentence(name: string, text: string): string {
  return text.trim() === "" ? `${name} says nothing.` : `${name} says: ${withStop(excerpt(text))}`;
}

export function failureSentence(name: string, text: string): string {
  return `The tool ${name} has failed: ${withStop(excerpt(text))}`;
}

function withStop(text: string): string {
  return /[\p{L}\p{N}]$/u.test(text) ? `${text}.` : text;
}

/** Not more of a text than one wants to read again. */
export function excerpt(text: string): string {
  const short = text.trim();
  return short.length > maxResultLength ? `${short.slice(0, maxResultLength).toWellFormed()}…` : short;
}

function done(value: number | string, sentence: string): Outcome {
  return { state: "done", value, sentence };
}

function failed(sentence: string): Outcome {
  return { state: "failed", sentence };
}
