// What a model must be able to do, tried on the model itself: answer, stream, and call a tool and use its result.

import { type ModelProvider, tool, type Usage } from "rondo";
import { EmptyAnswerError, ModelRequestError, UnexpectedAnswerError } from "rondo/errors";
import { run } from "rondo/loop";
import type { ModelRequest } from "rondo/models";
import { toolAdvice } from "./advice.ts";
import { type AskedServer, diagnose } from "./diagnose.ts";
import {
  type Finding,
  failed,
  type ModelReport,
  ok,
  type StepName,
  type StepReport,
  warning,
} from "./finding.ts";

export interface ModelToCheck {
  readonly name: string;
  readonly provider: ModelProvider;
  /** Which profile it has and why. Undefined behind a Rondo server, which chooses it. */
  readonly profile?: ModelReport["profile"];
  /** The same model with all tool dialects; undefined if its profile has them. */
  readonly withAllDialects?: (() => ModelProvider) | undefined;
}

export interface StepOptions {
  readonly asked: AskedServer;
  readonly signal: AbortSignal;
  /** The only step to try. Default: all. */
  readonly only?: StepName | undefined;
  /** Called before each step. */
  readonly onStep?: (step: StepTitle) => void;
  /** Called after each step. */
  readonly onReport?: (step: StepTitle, report: StepReport) => void;
}

/** A step in words. */
export interface StepTitle {
  readonly title: string;
  /** What happens in it. */
  readonly progress: string;
}

interface ModelCheck extends StepTitle {
  readonly step: StepName;
  run(model: ModelToCheck, signal: AbortSignal): Promise<Finding>;
}

const modelChecks: readonly ModelCheck[] = [
  {
    step: "answer",
    title: "answer",
    progress: "asking for an answer (a model that is not loaded yet takes its time)",
    run: checkAnswer,
  },
  { step: "stream", title: "streaming", progress: "asking for a stream", run: checkStream },
  { step: "tool", title: "tool call", progress: "asking for a tool call", run: checkTool },
];

/** Runs the checks in order, each with the time limit. A failure of the server, not of a request, ends them. */
export async function checkModel(model: ModelToCheck, options: StepOptions): Promise<ModelReport> {
  const { asked, signal, only, onStep, onReport } = options;
  const { name, profile } = model;
  const wanted = modelChecks.filter(({ step }) => only === undefined || step === only);
  const steps: StepReport[] = [];
  for (const check of wanted) {
    const { step } = check;
    onStep?.(check);
    const startedAt = performance.now();
    let mayContinue = true;
    const limited = AbortSignal.any([signal, AbortSignal.timeout(asked.timeoutMs)]);
    const finding = await check.run(model, limited).catch((error: unknown) => {
      signal.throwIfAborted();
      mayContinue = requestErrors.some((type) => error instanceof type);
      return stepFinding(error, step, asked);
    });
    const report = { step, ...finding, ms: Math.round(performance.now() - startedAt) };
    steps.push(report);
    onReport?.(check, report);
    if (!mayContinue) break;
  }
  const isFine = ({ status }: Finding) => status === "ok" || status === "warning";
  const works = steps.length === wanted.length && steps.every(isFine);
  return { model: name, ...(profile && { profile }), works, steps };
}

/** After these, another request may succeed. */
const requestErrors = [ModelRequestError, UnexpectedAnswerError, EmptyAnswerError];

function stepFinding(error: unknown, step: StepName, asked: AskedServer): Finding {
  const finding = diagnose(error, asked);
  if (finding.code === "hangs")
    return failed("slow", `there was no complete answer within ${asked.timeoutMs / 1000} s`);
  if (finding.code !== "refused" || !(error instanceof ModelRequestError)) return finding;
  if (step !== "tool") return { ...finding, advice: "The message says what the server does not accept." };
  return failed("no_tools", `it refuses a request with tools (${error.said || `status ${error.status}`})`);
}

/** Enough for a model that thinks first, and an end for one that never stops. */
const maxTokens = 1500;

async function checkAnswer({ provider }: ModelToCheck, signal: AbortSignal): Promise<Finding> {
  const answer = await ask(provider, {
    messages: [{ role: "user", content: "Reply with the single word pong." }],
    // Some servers refuse stream options in a request that is not streamed.
    settings: { maxTokens, extraBody: { stream: false, stream_options: undefined } },
    signal,
  });
  return emptyFinding(answer) ?? ok(`it said ${quote(answer.text)}`);
}

async function checkStream({ provider }: ModelToCheck, signal: AbortSignal): Promise<Finding> {
  const content = "Count from 1 to 10 in digits, with commas between them.";
  const answer = await ask(provider, {
    messages: [{ role: "user", content }],
    settings: { maxTokens },
    signal,
  });
  const empty = emptyFinding(answer);
  if (empty) return empty;
  const { chunks, firstMs } = answer;
  return chunks > 1
    ? ok(`${chunks} pieces, the first after ${(firstMs / 1000).toFixed(1)} s`)
    : warning("one_piece", "the whole answer came in one piece");
}

interface Answer {
  readonly text: string;
  readonly thinking: string;
}

/** One answer of a model, with the number of its chunks and the time to the first. */
async function ask(provider: ModelProvider, request: ModelRequest) {
  const startedAt = performance.now();
  const answer = { text: "", thinking: "", chunks: 0, firstMs: 0 };
  for await (const delta of provider.stream(request)) {
    if (delta.type !== "text.delta" && delta.type !== "thinking.delta") continue;
    if (answer.chunks++ === 0) answer.firstMs = performance.now() - startedAt;
    answer[delta.type === "text.delta" ? "text" : "thinking"] += delta.text;
  }
  return answer;
}

/** Why an answer without text is not one; undefined if it has text. */
function emptyFinding({ text, thinking }: Answer): Finding | undefined {
  if (text.trim() !== "") return undefined;
  if (thinking === "") return failed("empty_answer", "the answer is empty");
  const length = `${thinking.length} characters`;
  return warning("only_thinking", `it thought for ${length} and had no tokens left for an answer`);
}

const a = 48_213;
const b = 90_761;
const toolPrompt = `What is ${a} + ${b}? Call the tool add to find out, then tell me the sum.`;
const add = tool(
  "add",
  "Add two numbers exactly. Always use it for sums.",
  { a: Number, b: Number },
  (input) => input.a + input.b,
);

interface ToolRun extends Answer {
  /** How the tool was called, for people; undefined if it was not. */
  readonly call: string | undefined;
  /** A call that could not be run. */
  readonly rejected: string | undefined;
  /** Of the last answer, whose prompt begins with the one before. */
  readonly lastUsage: Usage | undefined;
}

async function checkTool(model: ModelToCheck, signal: AbortSignal): Promise<Finding> {
  const seen = await runTool(model.provider, signal);
  const { text, call, rejected } = seen;
  if (call !== undefined) {
    if (hasSum(text)) return ok(`${call}, and the answer has the result${wordCache(seen.lastUsage, model)}`);
    const instead = emptyFinding(seen)?.message ?? quote(text);
    return failed(
      "result_not_used",
      `${call} was called, but the answer does not have the result: ${instead}`,
    );
  }
  if (model.withAllDialects && (await runTool(model.withAllDialects(), signal)).call !== undefined)
    return failed(
      "other_dialect",
      "it calls the tool, but in a dialect that its profile does not include",
      `The profile '${model.profile?.name}' includes ${model.profile?.toolDialects.join(", ") || "none"}. ` +
        "Set profile.toolDialects in the config to all dialects of docs/quirks.md, or to the one that the model writes.",
    );
  if (rejected !== undefined) return failed("wrong_call", `it called ${rejected}, which cannot be run`);
  return missingCall(seen, model.profile);
}

async function runTool(model: ModelProvider, signal: AbortSignal): Promise<ToolRun> {
  let [text, thinking] = ["", ""];
  let call: string | undefined;
  let rejected: string | undefined;
  let lastUsage: Usage | undefined;
  const options = { model, tools: [add], settings: { maxTokens }, maxToolIterations: 3, signal };
  for await (const event of run([{ role: "user", content: toolPrompt }], options)) {
    if (event.type === "model.started") text = ""; // the last answer counts
    if (event.type === "text.delta") text += event.text;
    if (event.type === "thinking.delta") thinking += event.text;
    if (event.type === "tool.finished" && !event.isError)
      call = `add(${String(event.input["a"])}, ${String(event.input["b"])})`;
    if (event.type === "model.finished") lastUsage = event.usage;
    if (event.type === "call.rejected") rejected = `${event.name} with ${quote(event.raw)}`;
  }
  signal.throwIfAborted(); // an aborted run ends normally, and would look like a model that did nothing
  return { text, thinking, call, rejected, lastUsage };
}

/** How much of a prompt the server had cached, if it says so. */
function wordCache(usage: Usage | undefined, { profile }: ModelToCheck): string {
  if (usage?.cachedTokens === undefined || usage.inputTokens === 0) return "";
  // A Rondo server (it has no profile) reports 0 also where its model server reports nothing.
  if (!profile && usage.cachedTokens === 0) return "";
  return `; of the second prompt's ${usage.inputTokens} tokens, ${usage.cachedTokens} were cached`;
}

function missingCall(seen: ToolRun, profile: ModelReport["profile"]): Finding {
  const instead = emptyFinding(seen)?.message ?? `it answered ${quote(seen.text)}`;
  const message = `it never called the tool: ${instead}`;
  if (!profile) return failed("no_tool_call", message);
  const { name, toolDialects } = profile;
  const dialects = toolDialects.length === 0 ? "no dialect" : `the dialects ${toolDialects.join(", ")}`;
  const tried = `The profile '${name}' was used: calls are read from the API's own field, and from the text in ${dialects}.`;
  // The first word of a profile's name is the server.
  const advice = `${tried} ${toolAdvice[name.split("/")[0] ?? ""] ?? toolAdvice["other"]}`;
  if (looksLikeCall(seen.text))
    return failed(
      "unread_call",
      `it wrote something like a call into its text, which no dialect matches: ${quote(seen.text, 120)}`,
      `${advice} Or set profile.toolDialects in the config, if the dialect is a known one (docs/quirks.md).`,
    );
  return failed(
    "no_tool_call",
    message,
    `${advice} If the model writes calls in a dialect of its own, set profile.toolDialects in the config (docs/quirks.md).`,
  );
}

/** Whether the sum is in the text, with or without thousands separators. */
function hasSum(text: string): boolean {
  return text.replace(/(?<=\d)[\s,.'’_\u{a0}\u{202f}](?=\d{3})/gu, "").includes(String(a + b));
}

/** Whether the text looks as if the model meant to call the tool. */
function looksLikeCall(text: string): boolean {
  const marks =
    /<\|?tool|\[TOOL|<function|functions?\.add|<invoke|```tool|"(?:name|function|tool|action)"\s*:\s*"add"/i;
  return marks.test(text) || new RegExp(`\\badd\\s*\\(?\\s*[{(]?[^.]{0,20}${a}`).test(text);
}

/** The start of a text on one line, quoted. */
function quote(text: string, maxLength = 60): string {
  const line = text.replace(/\s+/g, " ").trim();
  return JSON.stringify(line.length > maxLength ? `${line.slice(0, maxLength)}…` : line);
}
