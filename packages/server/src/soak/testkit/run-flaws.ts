// What is wrong with a background run that has lived through crashes: seen from its stream, from what its tools
// have really done, and from what the model was told.

import { isDeepStrictEqual } from "node:util";
import type { Frame } from "../../conformance/testkit/frames.ts";
import { streamFlaws } from "../../conformance/testkit/stream-checker.ts";
import type { McpCallItem, OutputItem } from "../../protocol/items.ts";
import type { ResponseObject } from "../../protocol/response.ts";
import { type Effect, resultOf } from "./entry-tools.ts";
import { callsOf, type EntryInput, endOf, type Story, type StoryCall, toolNames } from "./story.ts";
import type { ChatMessage } from "./story-model.ts";

export interface FinishedRun {
  readonly story: Story;
  /** As `GET` gives it. */
  readonly response: ResponseObject;
  /** What a follower has seen over all its connections; undefined if nobody followed. */
  readonly followed: readonly Frame[] | undefined;
  /** The whole stream, read again at the end. */
  readonly replayed: readonly Frame[];
  /** What the tools did for this story. */
  readonly effects: readonly Effect[];
  /** With which conversation the model was asked for the end. */
  readonly conversation: readonly ChatMessage[] | undefined;
  /** Whether a process that was frozen may have run a call while another one did. */
  readonly hasSeveralNodes: boolean;
}

const unknownOutcome = /whether it has done its work is not known/i;

export function runFlaws(run: FinishedRun): string[] {
  const { story, response, followed, replayed } = run;
  const flaws = streamFlaws(replayed);
  if (followed && !isDeepStrictEqual(followed, replayed))
    flaws.push(`what was followed is not what is stored: ${firstDifference(followed, replayed)}`);
  const last = replayed.at(-2)?.data as { response?: unknown } | undefined;
  if (!isDeepStrictEqual(last?.response, response))
    flaws.push("the terminal event's response is not the stored one");
  if (response.status !== "completed")
    flaws.push(`it ended as '${response.status}': ${JSON.stringify(response.error)}`);
  const end = response.output.at(-1);
  if (end?.type !== "message" || end.status !== "completed" || textOf(end) !== endOf(story))
    flaws.push(`it ended with ${JSON.stringify(end)} instead of the story's end`);
  flaws.push(...outputFlaws(run));
  return flaws.map((flaw) => `${response.id} (${story.name}): ${flaw}`);
}

/** Whether the outcome of a call was told to be unknown. */
export function isUnknown(item: McpCallItem): boolean {
  return item.status === "failed" && unknownOutcome.test(errorOf(item));
}

function errorOf({ error }: McpCallItem): string {
  return error?.content.map(({ text }) => text).join("\n") ?? "";
}

function outputFlaws({ story, response, effects, conversation, hasSeveralNodes }: FinishedRun): string[] {
  const calls = callsOf(story);
  const items = response.output.filter((item) => item.type === "mcp_call");
  const flaws: string[] = [];
  if (items.length !== calls.length) flaws.push(`it has ${items.length} calls instead of ${calls.length}`);
  for (const call of calls) {
    const about = `the call ${call.input.step}.${call.input.place} of '${call.name}'`;
    const [item, ...more] = items.filter((it) => isOf(call, JSON.parse(it.arguments) as EntryInput));
    if (!item || more.length > 0) flaws.push(`${about} has ${more.length + (item ? 1 : 0)} results`);
    else {
      const own = effects.filter((effect) => isOf(call, effect));
      flaws.push(
        ...[...callFlaws(call, item, own, hasSeveralNodes), ...toldFlaws(call, item, conversation)].map(
          (flaw) => `${about} ${flaw}`,
        ),
      );
    }
  }
  return flaws;
}

/** Holds a call against what its tool has really done. */
function callFlaws(
  call: StoryCall,
  item: McpCallItem,
  effects: readonly Effect[],
  hasSeveralNodes: boolean,
): string[] {
  const flaws: string[] = [];
  const starts = effects.filter(({ type }) => type === "started");
  const isOnce = (toolNames.once as readonly string[]).includes(call.name);
  if (isOnce && starts.length > 1) flaws.push(`ran ${starts.length} times`);
  if (new Set(starts.map(({ key }) => key)).size > 1) flaws.push("ran under different idempotency keys");
  if (item.status === "completed") {
    // Had it run once more after its result was kept, the last run would be another one.
    const last = hasSeveralNodes ? starts.find((it) => item.output === resultOf(it.mark)) : starts.at(-1);
    const mark = last?.mark ?? "";
    if (item.output !== resultOf(mark))
      flaws.push(`gave ${JSON.stringify(item.output)}, but ran last as ${JSON.stringify(mark)}`);
    if (!effects.some((effect) => effect.type === "ended" && effect.mark === mark))
      flaws.push("is completed, but its tool never ended");
  } else if (!isOnce) flaws.push(`may run again, but has failed: ${errorOf(item)}`);
  else if (!isUnknown(item)) flaws.push(`has failed in another way: ${errorOf(item)}`);
  return flaws;
}

/** Holds a call against what the model was told of it. */
function toldFlaws(
  call: StoryCall,
  item: McpCallItem,
  conversation: readonly ChatMessage[] | undefined,
): string[] {
  if (!conversation) return ["was never told to the model"];
  const isThis = (it: { function: { arguments: string } }) =>
    isOf(call, JSON.parse(it.function.arguments) as EntryInput);
  const asked = conversation.findIndex(({ tool_calls = [] }) => tool_calls.some(isThis));
  // On the way to the model, calls have ids that depend on nothing but the conversation.
  const id = conversation[asked]?.tool_calls?.find(isThis)?.id;
  const next = conversation.findIndex(({ role }, index) => index > asked && role === "assistant");
  const results = conversation
    .slice(asked + 1, next < 0 ? undefined : next)
    .filter(({ tool_call_id }) => id !== undefined && tool_call_id === id);
  const expected = item.status === "completed" ? (item.output ?? "") : errorOf(item);
  const [result] = results;
  if (results.length === 1 && result?.content.includes(expected)) return [];
  return [`was told to the model as ${JSON.stringify(results)} instead of ${JSON.stringify(expected)}`];
}

function isOf({ input }: StoryCall, { story, step, place }: EntryInput): boolean {
  return input.story === story && input.step === step && input.place === place;
}

function textOf(item: OutputItem): string {
  return item.type === "message"
    ? item.content.map((part) => ("text" in part ? part.text : "")).join("")
    : "";
}

function firstDifference(left: readonly Frame[], right: readonly Frame[]): string {
  const index = left.findIndex((frame, at) => !isDeepStrictEqual(frame, right[at]));
  const at = index < 0 ? left.length : index;
  return `at ${at}, ${JSON.stringify(left[at])} and ${JSON.stringify(right[at])}`;
}
