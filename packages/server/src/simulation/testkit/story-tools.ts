// The model and the tools of the nodes: a story follows from its seed alone, and every run of a tool is written down.

import { type AnyTool, type Message, type ToolContext, tool } from "rondo";
import { type ScriptedAnswer, type ScriptedModel, scriptedModel } from "rondo/testing";
import type { ToolExecutor } from "../../executor/executor.ts";
import { mcpItems } from "../../executor/mcp/mcp-items.ts";
import { answerOf, type EntryInput, type Story, toolNames } from "../../soak/testkit/story.ts";
import type { Execution, History } from "./history.ts";
import type { World } from "./world.ts";

/** A story whose one call a person has to allow. */
export const askedTool = "ask_entry";

export interface SimStory extends Story {
  readonly isAsked?: boolean;
}

export interface Stage {
  readonly world: World;
  readonly history: History;
  readonly life: string;
}

/** Tells each story by the last message of the user, which is the story as JSON. */
export function storyModel({ world, history }: Stage): ScriptedModel {
  return scriptedModel(({ messages }) => {
    const start = messages.findLastIndex(({ role }) => role === "user");
    const story = JSON.parse(textOf(messages[start])) as SimStory;
    const step = messages.slice(start).filter((it) => it.role === "assistant" && it.tool_calls).length;
    if (step >= story.steps)
      history.prompts.push({ story: story.name, before: sayings(messages.slice(0, start)) });
    const { thinking, text, calls } = answerOf(story, step);
    let last = Promise.resolve();
    const pause = () => {
      const ms = world.chance.integer(0, story.paceMs);
      last = last.then(() => sleep(ms));
      return last;
    };
    // Most pieces come together.
    const pieces = (given: readonly string[]) =>
      given.flatMap((piece, index) => (index % 4 === 1 ? [piece, pause()] : [piece]));
    const answer: ScriptedAnswer = {
      thinking: pieces(thinking),
      text: pieces(text),
      calls: story.isAsked ? calls.slice(0, 1).map((call) => ({ ...call, name: askedTool })) : calls,
      usage: { inputTokens: 10, outputTokens: 5, totalTokens: 15 },
    };
    return answer;
  });
}

/** Who said what: `user NAME` and `end NAME`. */
export function sayings(messages: readonly Pick<Message, "role" | "content">[]): string[] {
  const said = messages.flatMap((message) => {
    const text = textOf(message);
    if (message.role === "user") return [`user ${(JSON.parse(text) as Story).name}`];
    const [, name] = /^(.+?) ends\. /.exec(text) ?? [];
    return message.role === "assistant" && name !== undefined ? [`end ${name}`] : [];
  });
  // An answer that was cut begins like the one that replaces it.
  return said.filter((it, index) => it !== said[index - 1]);
}

function textOf(message: Pick<Message, "content"> | undefined): string {
  const content = message?.content ?? "";
  return typeof content === "string"
    ? content
    : content.map((part) => ("text" in part ? part.text : "")).join("");
}

const input = { story: String, step: Number, place: Number, ms: Number };

export function storyTools(stage: Stage): AnyTool[] {
  const make = (name: string, idempotent: boolean) =>
    tool(
      { name, description: "Writes an entry.", input, registry: false, idempotent },
      async (given: EntryInput, context: ToolContext) => execute(stage, name, given, context),
    );
  return [
    ...toolNames.repeatable.map((name) => make(name, true)),
    ...toolNames.once.map((name) => make(name, false)),
  ];
}

/** A tool that needs the approval of a person. */
export function askedExecutor(stage: Stage): ToolExecutor {
  return {
    kind: "sim",
    canExecute: ({ type }) => type === "sim.entry",
    offer: ({ definitions }) => ({
      tools: definitions.map(({ index }) => ({
        tool: tool(
          { name: askedTool, description: "Writes an entry.", input, registry: false, idempotent: false },
          async (given: EntryInput, context: ToolContext) => execute(stage, askedTool, given, context),
        ),
        identity: { host: "executor:sim", label: "sim", name: askedTool },
        runsHere: true,
        items: mcpItems,
        index,
        needsApproval: true,
      })),
    }),
  };
}

async function execute(
  { world, history, life }: Stage,
  name: string,
  { story, step, place, ms }: EntryInput,
  { signal, idempotencyKey: key }: ToolContext,
): Promise<string> {
  const execution: Execution = {
    key,
    tool: name,
    responseId: key.slice(0, key.indexOf(":")),
    story,
    life,
    startedAtMs: world.nowMs,
    endedAtMs: undefined,
    wasAborted: false,
  };
  history.executions.push(execution);
  history.note(world.nowMs, `${life} runs ${name} ${step}.${place} of ${story}`);
  const aborted = Promise.withResolvers<never>();
  const onAbort = () => {
    execution.wasAborted = true;
    aborted.reject(signal.reason as Error);
  };
  signal.addEventListener("abort", onAbort);
  try {
    signal.throwIfAborted();
    await Promise.race([sleep(ms), aborted.promise]);
    return `written ${step}.${place}`;
  } finally {
    signal.removeEventListener("abort", onAbort);
    execution.endedAtMs = world.nowMs;
  }
}

/** As part of the node that sleeps: it is frozen and dies with it. */
function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
