// `rondo doctor --learn URL`: finds out what a model and its server can do, and writes a profile to paste.

import { type ModelProvider, openaiCompatible } from "rondo";
import { ContextLengthError } from "rondo/errors";
import {
  type EndpointFacts,
  learnEndpoint,
  listModels,
  type ModelProfile,
  type ModelRequest,
  pickProfile,
} from "rondo/models";
import { dialectsIn, readTemplate } from "./chat-template.ts";

export interface LearnOptions {
  readonly url: string;
  readonly apiKey?: string | undefined;
  /** Default: the first of the server. */
  readonly model?: string | undefined;
  /** The limit of each question. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  readonly onProgress: (text: string) => void;
}

/** One line of the table: what was tried, and how it went. */
export interface LearnedAbility {
  readonly ability: string;
  readonly works: boolean;
  readonly note: string;
}

export interface Learned {
  readonly model: string;
  readonly server: EndpointFacts["server"];
  readonly evidence: string | undefined;
  readonly table: readonly LearnedAbility[];
  /** The fields that differ from what is used without it, or that are worth fixing. */
  readonly profile: Partial<ModelProfile>;
}

const maxTokens = 400;
/** The longest input that is tried, in words: a small machine takes its time. */
const mostWords = 8000;

const tools: NonNullable<ModelRequest["tools"]> = [
  toolOf("add", "Add two numbers.", { a: { type: "number" }, b: { type: "number" } }),
  toolOf("get_weather", "The weather of a city.", { city: { type: "string" } }),
];

/** Throws if the server does not answer, or has no models. */
export async function learnModel(options: LearnOptions): Promise<Learned> {
  const { url, apiKey, signal, onProgress } = options;
  const limited = () => AbortSignal.any([signal, AbortSignal.timeout(options.timeoutMs)]);
  onProgress("asking the server what it is");
  const model = options.model ?? (await listModels({ baseURL: url, apiKey, signal: limited() }))[0];
  if (model === undefined) throw new Error("The server has no models: name one with --model.");
  const facts = await learnEndpoint({ baseURL: url, apiKey, model, signal });
  const headers: Record<string, string> = apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` };
  const template = await readTemplate({ url, server: facts.server, model, headers, signal: limited() });
  const written = template === undefined ? [] : dialectsIn(template);
  const open = (profile: Partial<ModelProfile>) =>
    openaiCompatible({ baseURL: url, apiKey, model, profile, retry: { attempts: 1 } });
  const table: LearnedAbility[] = [];
  const add = (ability: string, works: boolean, note: string) => table.push({ ability, works, note });
  add(
    "chat template",
    template !== undefined,
    template === undefined
      ? "the server does not give it"
      : written.length > 0
        ? `calls as ${written.join(", ")}`
        : "no known way to write calls",
  );

  onProgress("asking for an answer");
  const thinking = await learnThinking(open({ thinkTags: [], startsThinking: false }), limited());
  add("thinking", true, thinking.note);
  const reading: Partial<ModelProfile> = {
    ...(written.length > 0 && { toolDialects: [...new Set([...written, "hermes", "bare-json"] as const)] }),
    startsThinking: thinking.startsInside,
  };
  onProgress("asking for calls");
  const one = await callsOf(open(reading), "What is 25 plus 17?", limited());
  add("a call", one.includes("add"), one.length > 0 ? one.join(", ") : "it called nothing");
  const two = await callsOf(open(reading), "What is the weather in Paris and in Rome?", limited());
  add("parallel calls", two.length > 1, `${two.length} in one answer`);
  onProgress("asking for a shape");
  const isEnforced = await enforcesShape(open({ ...reading, outputMode: "native" }), limited());
  add("a shape", isEnforced, isEnforced ? "the server enforces it" : "only in words");
  onProgress("sending a long input");
  const long = await tryLongInput(open(reading), facts.contextWindow, limited());
  add("a long input", long.works, long.note);

  const contextWindow = facts.contextWindow ?? long.contextWindow;
  const known = pickProfile({ baseURL: url, model, learned: facts }).profile;
  const profile: Partial<ModelProfile> = {
    ...reading,
    outputMode: isEnforced ? "native" : "prompt",
    honoursToolChoice: known.honoursToolChoice,
    ...(known.namesToolChoice === false && { namesToolChoice: false }),
    ...(contextWindow !== undefined && { contextWindow }),
  };
  signal.throwIfAborted();
  return { model, server: facts.server, evidence: facts.evidence, table, profile };
}

interface Answer {
  text: string;
  thinking: string;
  calls: string[];
  inputTokens: number;
}

async function ask(model: ModelProvider, request: Omit<ModelRequest, "settings">): Promise<Answer> {
  const answer: Answer = { text: "", thinking: "", calls: [], inputTokens: 0 };
  for await (const delta of model.stream({ ...request, settings: { maxTokens, temperature: 0 } })) {
    if (delta.type === "text.delta") answer.text += delta.text;
    if (delta.type === "thinking.delta") answer.thinking += delta.text;
    if (delta.type === "call.ended") answer.calls.push(delta.name);
    if (delta.type === "finished") answer.inputTokens = delta.usage?.inputTokens ?? 0;
  }
  return answer;
}

const said = (content: string): ModelRequest["messages"] => [{ role: "user", content }];

async function learnThinking(model: ModelProvider, signal: AbortSignal) {
  const { text, thinking } = await ask(model, { messages: said("Reply with the single word pong."), signal });
  const close = text.indexOf("</think>");
  const isOpen = text.slice(0, close < 0 ? text.length : close).includes("<think>");
  if (close >= 0 && !isOpen) return { startsInside: true, note: "the template opens it, in the text" };
  if (close >= 0 || isOpen) return { startsInside: false, note: "in tags, in the text" };
  return { startsInside: false, note: thinking === "" ? "none seen" : "in a field of its own" };
}

async function callsOf(model: ModelProvider, prompt: string, signal: AbortSignal): Promise<string[]> {
  return (await ask(model, { messages: said(prompt), tools, signal }).catch(orNothing(signal))).calls;
}

async function enforcesShape(model: ModelProvider, signal: AbortSignal): Promise<boolean> {
  const schema = { type: "object", properties: { done: { type: "boolean" } }, required: ["done"] } as const;
  const messages = said("Say hello in plain words.");
  const { text } = await ask(model, { messages, output: { name: "answer", schema }, signal }).catch(
    orNothing(signal),
  );
  try {
    return typeof (JSON.parse(text) as { done?: unknown }).done === "boolean";
  } catch {
    return false;
  }
}

/** An input that is a little longer than the window, or a long one if that is not known. */
async function tryLongInput(model: ModelProvider, window: number | undefined, signal: AbortSignal) {
  const words = Math.min(window === undefined ? mostWords : Math.ceil(window * 1.2), mostWords);
  try {
    const { inputTokens } = await ask(model, { messages: said("word ".repeat(words)), signal });
    if (inputTokens === 0) return { works: true, note: "answered; the server does not count tokens" };
    const isWhole = inputTokens >= words * 0.9;
    return {
      works: isWhole,
      note: isWhole
        ? `${inputTokens} tokens were read`
        : `cut silently: ${words} words were sent, ${inputTokens} tokens were read`,
    };
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof ContextLengthError)) throw error;
    const { contextWindow = window } = error;
    return {
      works: true,
      note: `refused beyond its window${contextWindow === undefined ? "" : ` of ${contextWindow} tokens`}`,
      contextWindow,
    };
  }
}

/** A refused request shows that the ability is missing. */
function orNothing(signal: AbortSignal): () => Answer {
  return () => {
    signal.throwIfAborted();
    return { text: "", thinking: "", calls: [], inputTokens: 0 };
  };
}

function toolOf(
  name: string,
  description: string,
  properties: Record<string, { type: "number" | "string" }>,
) {
  const parameters = { type: "object" as const, properties, required: Object.keys(properties) };
  return { type: "function" as const, function: { name, description, parameters } };
}
