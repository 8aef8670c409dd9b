// Function-calling tasks with known answers, in the format of the Berkeley Function Calling Leaderboard (BFCL v4):
// `BFCL_v4_NAME.json` has questions and functions as JSON lines, `possible_answer/BFCL_v4_NAME.json` their answers.

import { existsSync, globSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";

export interface Call {
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}

export interface FunctionDefinition {
  readonly name: string;
  readonly description: string;
  readonly parameters: Readonly<Record<string, unknown>>;
}

export interface Task {
  readonly id: string;
  readonly prompt: string;
  readonly functions: readonly FunctionDefinition[];
  readonly calls: readonly Call[];
}

/** The tasks of a folder that are one question with one answer. Others (several turns, web search) are left out. */
export function loadTasks(folder: string): Task[] {
  const tasks: Task[] = [];
  for (const answerFile of globSync(join(folder, "possible_answer/BFCL_v4_*.json")).toSorted()) {
    const taskFile = join(folder, basename(answerFile));
    if (!existsSync(taskFile)) continue;
    const answers = new Map(readLines(answerFile).map((line) => [line["id"], line["ground_truth"]]));
    for (const line of readLines(taskFile)) {
      const task = toTask(line, answers.get(line["id"]));
      if (task) tasks.push(task);
    }
  }
  return tasks;
}

function readLines(file: string): Record<string, unknown>[] {
  return readFileSync(file, "utf8")
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

function toTask(line: Record<string, unknown>, answer: unknown): Task | undefined {
  const turns = line["question"] as { role: string; content: string }[][];
  const functions = line["function"] as FunctionDefinition[] | undefined;
  const isCallList =
    Array.isArray(answer) && answer.every((call) => typeof call === "object" && !Array.isArray(call));
  if (turns.length !== 1 || !functions || !isCallList || answer.length === 0) return undefined;
  return {
    id: String(line["id"]),
    prompt: turns[0]?.findLast(({ role }) => role === "user")?.content ?? "",
    functions: functions.map(({ name, description, parameters }) => ({
      name: functionName(name),
      description,
      parameters: toJsonSchema(parameters) as Record<string, unknown>,
    })),
    calls: answer.flatMap((call: Record<string, Record<string, unknown>>) =>
      Object.entries(call).map(([name, values]) => ({
        name: functionName(name),
        arguments: firstValues(values),
      })),
    ),
  };
}

/** The API allows no dots in the names of functions. */
function functionName(name: string): string {
  return name.replaceAll(/[^\w-]/g, "_");
}

/** Each argument has a list of accepted values; an empty string among them says that it may be left out. */
function firstValues(values: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const chosen = Object.entries(values)
    .map(([key, accepted]) => [
      key,
      Array.isArray(accepted) ? accepted.find((value) => value !== "") : accepted,
    ])
    .filter(([, value]) => value !== undefined);
  return Object.fromEntries(chosen.map(([key, value]) => [key, plainValue(value)]));
}

/** Within a value, objects have lists of accepted values again. */
function plainValue(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plainValue);
  if (typeof value !== "object" || value === null) return value;
  return firstValues(value as Record<string, unknown>);
}

const typeNames: Readonly<Record<string, string>> = {
  dict: "object",
  hashmap: "object",
  float: "number",
  double: "number",
  long: "integer",
  tuple: "array",
  list: "array",
  arraylist: "array",
  char: "string",
  bool: "boolean",
};
const jsonTypes = new Set(["object", "array", "string", "number", "integer", "boolean", "null"]);

/** The data names types as Python, Java and JavaScript do. A type without a counterpart is left open. */
function toJsonSchema(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(toJsonSchema);
  if (typeof schema !== "object" || schema === null) return schema;
  const entries = Object.entries(schema).flatMap(([key, value]): [string, unknown][] => {
    if (key !== "type" || typeof value !== "string") return [[key, toJsonSchema(value)]];
    const type = typeNames[value.toLowerCase()] ?? value.toLowerCase();
    return jsonTypes.has(type) ? [[key, type]] : [];
  });
  return Object.fromEntries(entries);
}
