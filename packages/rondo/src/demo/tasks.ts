// Reads a prompt as tasks: chains of steps, of which each may use the result of the one before.

import type { OpenAITool } from "../tool/tool.ts";
import { type Clause, clausesOf } from "./clauses.ts";
import { type Expression, operatorsIn, refersBack } from "./expression.ts";
import { isNumeric, type Material } from "./fill-schema.ts";
import { findExpressions } from "./math-parser.ts";
import { requiredParametersOf } from "./tool-input.ts";
import { namedTool } from "./tool-names.ts";

export type Task =
  | { readonly kind: "calculate"; readonly expression: Expression }
  | { readonly kind: "time"; readonly text: string }
  | { readonly kind: "search"; readonly words: string }
  | { readonly kind: "echo"; readonly text: string }
  /** A tool that the text names. */
  | { readonly kind: "use"; readonly tool: OpenAITool; readonly material: Material };

export interface Plan {
  readonly chains: readonly (readonly Task[])[];
  /** What of the prompt is no task: text to search in. */
  readonly rest: readonly string[];
}

// Nobody asks more at once; who pastes a book does not mean its sentences as tasks.
const maxPromptLength = 4_000;
const maxTasks = 16;

const echoAll = /^(?:please )?(?:say|echo|repeat)(?: after me| this| the following)?:\s*(\S.*)$/is;
const echo = /^(?:please )?(?:say|echo|repeat)(?: after me)? (.+)$/i;
const search = /\b(?:search|grep|google|find|look (?:up|for)|mentions?|contains?|where (?:is|are)) (.+)$/i;
const time =
  /\b(?:what|what's|which|tell|show|give|current)\b.*\b(?:time|date)\b|\bwhat day\b|^(?:the )?time$/i;

export function readTasks(prompt: string, tools: readonly OpenAITool[], hasPrevious: boolean): Plan {
  const whole = echoAll.exec(prompt.trim())?.[1];
  if (whole !== undefined)
    return { chains: [[{ kind: "echo", text: whole.slice(0, maxPromptLength) }]], rest: [] };

  const chains: Task[][] = [];
  const rest: string[] = [prompt.slice(maxPromptLength)];
  let count = 0;
  for (const clause of clausesOf(prompt.slice(0, maxPromptLength))) {
    const last = chains.at(-1);
    const isNext = clause.isNext && last !== undefined;
    const tasks = tasksOf({ ...clause, isNext }, tools).filter(
      (task) =>
        last !== undefined || hasPrevious || task.kind !== "calculate" || !refersBack(task.expression),
    );
    count += tasks.length;
    if (tasks.length === 0 || count > maxTasks) rest.push(clause.text);
    else if (isNext || tasks.some((task) => task.kind === "calculate" && refersBack(task.expression) && last))
      (last ?? []).push(...tasks);
    else chains.push(...tasks.map((task) => [task]));
  }
  return { chains, rest: rest.filter((text) => text !== "") };
}

/** How many calls the tasks can need. */
export function callsNeeded({ chains }: Plan): number {
  return chains
    .flat()
    .reduce((sum, task) => sum + (task.kind === "calculate" ? operatorsIn(task.expression).length : 1), 0);
}

function tasksOf({ text, isNext }: Clause, tools: readonly OpenAITool[]): Task[] {
  const repeated = echo.exec(text)?.[1];
  if (repeated !== undefined) return [{ kind: "echo", text: unquoted(repeated) }];
  const tasks: Task[] = findExpressions(text, isNext).map((expression) => ({
    kind: "calculate",
    expression,
  }));
  if (time.test(text)) tasks.push({ kind: "time", text });
  if (tasks.length > 0) return tasks;
  const searched = search.exec(text)?.[1];
  if (searched !== undefined) {
    const words = searchedWords(searched);
    if (words !== "") return [{ kind: "search", words }];
  }
  return useOf(text, tools);
}

/** "the docs for the word fox in this text" → "fox". */
function searchedWords(text: string): string {
  const quoted = quotedIn(text)[0];
  if (quoted !== undefined) return quoted;
  const start = text.search(/\bfor /i);
  return (start >= 0 ? text.slice(start + 4) : text)
    .replace(/ in (?:the|this|that|these|my|our|your|it)\b.*$/i, "")
    .replace(/^(?:(?:the|a|an|all|word|words|phrase|term|me|us|out|about) )+/i, "")
    .replace(/[.,?!\s]+$/, "");
}

function useOf(text: string, tools: readonly OpenAITool[]): Task[] {
  const tool = namedTool(tools, text);
  if (!tool) return [];
  const { numbers, texts, said } = materialOf(text);
  const wanted = requiredParametersOf(tool);
  // What needs numbers that are not there is talked about, not asked for.
  if (wanted.filter((schema) => isNumeric(schema)).length > numbers.length) return [];
  const places = (texts[0] ?? "").split(/,? and (?:in |for |of )?|, /);
  const isList = wanted.length === 1 && texts.length === 1 && places.every((place) => /^\p{Lu}/u.test(place));
  return (isList ? places : [undefined]).map((place) => ({
    kind: "use",
    tool,
    material: { numbers, texts: place === undefined ? texts : [place], said },
  }));
}

/** What a tool's arguments can be made of: what is in quotes, or the thing that the text is about. */
export function materialOf(text: string): Material {
  const quoted = quotedIn(text);
  const about = /\b(?:in|for|of|about|at|to|on|from|named|called|with)\b (.+)$/i.exec(text)?.[1] ?? text;
  const topic = about.replace(/(?:[.,?! ]|\b(?:today|tomorrow|right now|now|please)\b)+$/i, "");
  const numbers = (text.match(/-?\d+(?:\.\d+)?/g) ?? []).slice(0, 100).map(Number).filter(Number.isFinite);
  return { texts: quoted.length > 0 ? quoted : [topic === "" ? text : topic], numbers, said: text };
}

function quotedIn(text: string): string[] {
  return Array.from(
    text.matchAll(/"([^"\n]+)"|“([^”\n]+)”|`([^`\n]+)`/g),
    ([, a, b, c]) => a ?? b ?? c ?? "",
  );
}

function unquoted(text: string): string {
  const quoted = quotedIn(text);
  return quoted.length === 1 && /^["“`].*["”`]$/.test(text) ? (quoted[0] ?? text) : text;
}
