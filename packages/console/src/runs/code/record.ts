// What is known of a run, for programs that repeat it.

import type { Item, ResponseObject } from "../../api/response.ts";
import { isCall, outputRows, textOfParts } from "../trace/items.ts";
import type { Round } from "../trace/rounds.ts";

export interface RunRecord {
  readonly title: string;
  readonly response: ResponseObject;
  /** The input of its request. */
  readonly input: readonly Item[];
  /** Input and output of the responses before it, from the first on. */
  readonly earlier: readonly Item[];
  readonly rounds: readonly Round[];
  /** The tools that the server has itself, for their descriptions and schemas. Default: not known. */
  readonly serverTools?: readonly KnownTool[];
}

interface KnownTool {
  readonly name: string;
  readonly description: string | null;
  readonly input_schema: unknown;
}

/** One answer of the model, as `rondo/testing` scripts it. */
export interface RecordedAnswer {
  readonly thinking?: string;
  readonly text?: string;
  readonly calls?: readonly RecordedCall[];
  readonly finishReason?: "length";
}

export interface RecordedCall {
  readonly name: string;
  /** The arguments as a value, or as a text where they are not JSON. */
  readonly input?: unknown;
  readonly arguments?: string;
}

/** What running a tool gave. */
export type RecordedResult = { readonly output: string } | { readonly error: string };

/** The answers of the model, in order. An answer without words or calls leaves no item, but it is one too. */
export function answersOf(record: RunRecord): RecordedAnswer[] {
  const { response, rounds } = record;
  const answers = new Map<number, { thinking: string[]; text: string[]; calls: RecordedCall[] }>();
  for (const { answer, item, look, text } of outputRows(response.output, rounds)) {
    if (answer === undefined) continue;
    const said = answers.get(answer) ?? { thinking: [], text: [], calls: [] };
    answers.set(answer, said);
    if (look === "thinking") said.thinking.push(text);
    else if (look === "assistant") said.text.push(text);
    else said.calls.push(toCall(item));
  }
  const list = [...answers].toSorted(([a], [b]) => a - b).map(([, said]) => said);
  if (endsEmpty(record)) list.push({ thinking: [], text: [""], calls: [] });
  return list.map(({ thinking, text, calls }, index) => ({
    ...(thinking.length > 0 && { thinking: thinking.join("\n") }),
    ...(text.length > 0 && { text: text.join("") }),
    ...(calls.length > 0 && { calls }),
    ...(isCutOff(response) && index === list.length - 1 && { finishReason: "length" as const }),
  }));
}

/**
 * Whether the last answer left no item: there is none at all, or the model was asked again after calls that the server
 * ran. Only the last can be empty, for it ends the run.
 */
function endsEmpty({ response, rounds }: RunRecord): boolean {
  if (response.error) return false;
  const rows = outputRows(response.output, rounds).filter(({ answer }) => answer !== undefined);
  const last = rows.filter(({ answer }) => answer === rows.at(-1)?.answer);
  if (last.length === 0) return true;
  const hasCalls = last.some(({ item }) => isCall(item));
  const isOpen = last.some(({ item, look }) => look === "approval" || isClientCall(item));
  // A run can also end with its calls; then its last round has them.
  const isLastRound = (rounds.at(-1)?.calls.length ?? 0) > 0;
  return (response.status === "completed" || isCutOff(response)) && hasCalls && !isOpen && !isLastRound;
}

/** Whether the client has to run it. */
function isClientCall({ type }: Item): boolean {
  return type === "function_call" || type === "custom_tool_call";
}

function isCutOff({ incomplete_details: details }: ResponseObject): boolean {
  return details?.reason === "max_output_tokens";
}

/** The ids of the calls that were rejected, as far as there is a trace. */
function rejectedIds(rounds: readonly Round[]): Set<string | undefined> {
  return new Set(
    rounds.flatMap(({ calls }) =>
      calls.flatMap(({ callId, decision }) => (decision === "reject" ? callId : [])),
    ),
  );
}

/** The results of each tool that ran here, in the order of its calls. */
export function resultsOf({ response, rounds }: RunRecord): Map<string, RecordedResult[]> {
  const rejected = rejectedIds(rounds);
  const results = new Map<string, RecordedResult[]>();
  for (const { item, title, result, isFailed, callId } of outputRows(response.output, rounds)) {
    if (!isCall(item) || isClientCall(item)) continue;
    if (rejected.has(callId)) continue;
    if (!isToolName(title)) continue;
    const list = results.get(title) ?? [];
    results.set(title, list);
    list.push(isFailed ? { error: result ?? "" } : { output: result ?? "" });
  }
  return results;
}

/** Whether the run ended with calls that did not run: the client has them, a person, or a limit was reached. */
export function endsWithCalls(record: RunRecord): boolean {
  return answersOf(record).at(-1)?.calls !== undefined;
}

/** The names in the calls of the last answer, without those that were rejected: a client answers them itself. */
export function openNames({ response, rounds }: RunRecord): string[] {
  const rejected = rejectedIds(rounds);
  const rows = outputRows(response.output, rounds).filter(({ answer }) => answer !== undefined);
  return rows.flatMap(({ answer, look, item, callId }) =>
    answer === rows.at(-1)?.answer && (look === "call" || look === "approval") && !rejected.has(callId)
      ? toCall(item).name
      : [],
  );
}

export interface RecordedTool {
  readonly name: string;
  readonly description: string;
  readonly schema: unknown;
}

const anyObject = { type: "object" };

/**
 * The tools of the request, and those that were called. If the model only called tools that do not exist, all that are
 * known, for without a tool the library does not ask the model again.
 */
export function toolsOf(record: RunRecord): RecordedTool[] {
  const tools = new Map<string, RecordedTool>();
  const listed: unknown[] = [...record.earlier, ...record.input, ...record.response.output].flatMap((item) =>
    item.type === "mcp_list_tools" && Array.isArray(item["tools"]) ? (item["tools"] as unknown[]) : [],
  );
  listed.push(...(record.serverTools ?? []));
  const asked = record.response.output.filter(({ type }) => type === "mcp_approval_request");
  const called = [...resultsOf(record).keys(), ...asked.map(({ name }) => String(name))];
  const rejected = rejectedNames(record);
  for (const { type, name, description, parameters } of record.response.tools)
    if (type === "function") add(name, description, parameters);
    else if (type === "custom")
      add(name, description, { type: "object", properties: { input: { type: "string" } } });
  addListed((name) => called.includes(name) || rejected.includes(name));
  for (const name of called) add(name, "", anyObject);
  if (tools.size === 0 && rejected.length > 0) {
    addListed(() => true);
    for (const name of [...rejected, "stand_in"]) if (tools.size === 0) add(name, "", anyObject);
  }
  return [...tools.values()];

  function addListed(isWanted: (name: string) => boolean): void {
    for (const tool of listed) {
      const { name, description, input_schema: schema } = tool as Record<string, unknown>;
      if (isWanted(String(name))) add(name, description, schema);
    }
  }

  function add(name: unknown, description: unknown, schema: unknown): void {
    if (typeof name !== "string" || !isToolName(name) || tools.has(name)) return;
    const known = typeof description === "string" && description !== "" ? description : `The tool ${name}.`;
    tools.set(name, { name, description: known, schema: schema ?? anyObject });
  }
}

/** The names in the calls that were rejected: of tools that got invalid arguments, or that do not exist. */
function rejectedNames({ response, rounds }: RunRecord): string[] {
  const rejected = rejectedIds(rounds);
  return outputRows(response.output, rounds).flatMap(({ title, callId }) =>
    rejected.has(callId) ? title : [],
  );
}

/** Whether the library takes it as the name of a tool. */
function isToolName(name: string): boolean {
  return /^[\w-]{1,64}$/.test(name);
}

/** Whether JSON is nested deeper than anybody writes it: as source code, it would have no end. */
function isDeep(text: string): boolean {
  let depth = 0;
  for (const character of text) {
    if (character === "[" || character === "{") depth += 1;
    if (character === "]" || character === "}") depth -= 1;
    if (depth > 100) return true;
  }
  return false;
}

function toCall(item: Item): RecordedCall {
  const name = typeof item["name"] === "string" ? item["name"] : item.type;
  if (item.type === "custom_tool_call") return { name, input: { input: textOfParts(item["input"]) } };
  const text = typeof item["arguments"] === "string" ? item["arguments"] : "{}";
  try {
    const input: unknown = JSON.parse(text);
    if (!isDeep(text) && JSON.stringify(input) === text) return { name, input };
  } catch {
    // As it was written.
  }
  return { name, arguments: text };
}
