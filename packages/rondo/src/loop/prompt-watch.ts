// Watches the prompts of one conversation, from request to request: whether each begins with the one before, so that
// the model server can use its cache, and whether the server read all of it.

import { sameJson } from "../json/same-json.ts";
import type { Message } from "../model/message.ts";
import type { ModelProvider, ModelRequest, Usage } from "../model/provider.ts";
import { PromptCounts } from "./prompt-counts.ts";
import { lengthOf, type PromptSize, runsOf, sizeOf, sizeOfTools, toolParts } from "./prompt-size.ts";

/** What of the earlier prompt a request does not begin with. */
export interface PromptChange {
  readonly part: "tools" | "messages";
  /** The first tool or message that differs, from 0. */
  readonly index: number;
  /** In words. */
  readonly message: string;
}

/** A prompt of which the server read only a part. */
export interface PromptCut {
  /** The tokens that the server reported. */
  readonly reportedTokens: number;
  /** The fewest tokens that the whole prompt can have. */
  readonly expectedTokens: number;
  /** In words. */
  readonly message: string;
}

interface SentPrompt {
  readonly messages: readonly Message[];
  readonly tools: NonNullable<ModelRequest["tools"]>;
  readonly toolChoice: ModelRequest["toolChoice"];
  /** Known after an answer whose usage was reported. */
  readonly counted?: { readonly characters: number; readonly tokens: number } | undefined;
}

/** Smaller prompts fit into any window. */
const leastCuttable = 256;
/** What templates write around the messages, and may change from one request to the next. */
const templateTokens = 24;

export class PromptWatch {
  #last: SentPrompt | undefined;
  /** The prompt before, if the last one begins with it. */
  #base: SentPrompt | undefined;

  /** Notes a request. Gives what it changes of the prompt before; undefined if it begins with that, or is the first. */
  send(request: ModelRequest): PromptChange | undefined {
    const { messages, tools = [], toolChoice } = request;
    const last = this.#last;
    const change = last && (changedTool(last.tools, tools) ?? changedMessage(last.messages, messages));
    this.#base = last && !change && last.toolChoice === toolChoice ? last : undefined;
    this.#last = { messages: messages.slice(), tools, toolChoice };
    return change;
  }

  /** Notes the usage of the last request's answer. Gives the cut, if the server certainly made one. */
  receive(model: ModelProvider, usage: Usage): PromptCut | undefined {
    const sent = this.#last;
    if (!sent || !model.countsPrompts || usage.inputTokens <= 0) return undefined;
    const base = this.#base?.counted;
    const from = base ? (this.#base?.messages.length ?? 0) : 0;
    const tools = base ? [] : sent.tools;
    const messages = from === 0 ? sent.messages : sent.messages.slice(from);
    const added = sumOf(sizeOfTools(tools), sizeOf(messages));
    const counts = PromptCounts.of(model);
    const count = counts.read(usage, base?.tokens, added);
    const known = base ? base.tokens * 0.98 - droppedThinking(sent, from, model) : 0;
    const byCharacters = counts.leastByCharacters(added.characters);
    const least =
      known - templateTokens + byCharacters <= count.most
        ? 0 // whatever its words, it may be whole
        : known -
          templateTokens +
          Math.min(byCharacters, counts.leastByRuns(runsOf([...toolParts(tools), ...messages])));
    const window = model.profile.contextWindow;
    const isWhole = counts.areWhole && !(base && counts.mayBePartial(usage, added));
    const isProven = isWhole || (window !== undefined && least > window && !counts.areUncached);
    if (isProven && least >= leastCuttable && count.most < least) {
      // What the server counted says nothing about the whole prompt.
      this.#last = { ...sent, counted: undefined };
      return toCut(count.most, Math.floor(least), model);
    }
    const characters = (base?.characters ?? 0) + added.characters;
    const runs = () => runsOf([...toolParts(sent.tools), ...sent.messages]);
    counts.learn(characters, runs, count.least, sent.messages.length);
    this.#last = { ...sent, counted: { characters, tokens: count.least } };
    return undefined;
  }

  /** Forgets the last prompt: the next one may begin differently. */
  forget(): void {
    this.#last = undefined;
    this.#base = undefined;
  }

  /** Forgets it if it is longer, so that whoever keeps many watches does not keep long conversations with them. */
  forgetLonger(maxCharacters: number): void {
    if (this.#last && lengthOf(this.#last.messages) > maxCharacters) this.forget();
    else this.#base = undefined; // it was for the last answer
  }
}

/** How much thinking the prompt before may have had that this one has not: templates drop it at the next prompt. */
function droppedThinking({ messages }: SentPrompt, from: number, { profile }: ModelProvider): number {
  if (profile.sendReasoning === "none") return 0;
  if (!messages.some(({ role }, index) => index >= from && role === "user")) return 0;
  return messages.reduce(
    (sum, message) => sum + (message.role === "assistant" ? (message.reasoning?.length ?? 0) : 0),
    0,
  );
}

function toCut(reportedTokens: number, expectedTokens: number, model: ModelProvider): PromptCut {
  const window = model.profile.contextWindow;
  return {
    reportedTokens,
    expectedTokens,
    message:
      `The model server at ${model.endpoint} read only ${reportedTokens} tokens of a prompt that has at least ` +
      `${expectedTokens}${window === undefined ? "" : ` (its window: ${window})`}, and answered without the rest. ` +
      "Give the model a larger window (num_ctx in Ollama, -c in llama.cpp), or send less.",
  };
}

function sumOf(one: PromptSize, other: PromptSize): PromptSize {
  return { characters: one.characters + other.characters, most: one.most + other.most };
}

type Tools = SentPrompt["tools"];

function changedTool(before: Tools, now: Tools): PromptChange | undefined {
  if (before === now) return undefined;
  const index = firstChange(before, now);
  if (index < 0 && before.length === now.length) return undefined;
  const at = index < 0 ? before.length : index;
  const [old, tool] = [before[at]?.function.name, now[at]?.function.name];
  const what =
    old === tool
      ? `the tool '${tool}' has another definition`
      : before.some((it) => it.function.name === tool) || tool === undefined
        ? `the tool '${old}' is not in its place`
        : `the tool '${tool}' is new`;
  return { part: "tools", index: at, message: wordChange(what) };
}

function changedMessage(before: readonly Message[], now: readonly Message[]): PromptChange | undefined {
  const index = firstChange(before, now);
  if (index < 0) return undefined;
  const role = now[index]?.role ?? before[index]?.role;
  const what =
    now[index] === undefined
      ? `it ends before message ${index} of the one before`
      : `message ${index} (${role}) is another`;
  return { part: "messages", index, message: wordChange(what) };
}

function wordChange(what: string): string {
  return `The prompt does not begin with the one before: ${what}. From there on, the model server reads it all again.`;
}

/** The first of `before` that `now` does not have in its place; -1 if it has them all. */
function firstChange(before: readonly unknown[], now: readonly unknown[]): number {
  // Mostly the same objects. No function is called for each of them: a conversation is looked at with each round.
  for (let index = 0; index < before.length; index += 1)
    if (before[index] !== now[index] && !sameJson(before[index], now[index])) return index;
  return -1;
}
