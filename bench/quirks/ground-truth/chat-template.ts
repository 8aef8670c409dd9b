// A model's chat template, used backwards: what the model must have written, so that its server's history contains
// these calls.

import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Call, Task } from "./tasks.ts";

interface JinjaTemplate {
  render(values: Readonly<Record<string, unknown>>): string;
}

/** The template engine, which is installed here and not with the repository. */
export async function loadTemplateEngine(): Promise<(source: string) => JinjaTemplate> {
  const folder = import.meta.dirname;
  if (!existsSync(join(folder, "node_modules"))) {
    const { status } = spawnSync("npm ci --ignore-scripts --no-audit --no-fund --loglevel=error", {
      cwd: folder,
      shell: true,
      stdio: "inherit",
    });
    if (status !== 0) throw new Error(`The template engine could not be installed in ${folder}.`);
  }
  const engine = (await import(join(folder, "node_modules/@huggingface/jinja/dist/index.js"))) as {
    Template: new (source: string) => JinjaTemplate;
  };
  return (source) => new engine.Template(source);
}

const sentinel = "The answer is a sentence.";

/** What the model writes in its thinking, where its template has a place for it. */
export const thought = "The user needs a tool for this.";

/** Where templates differ in what they expect of a call. */
interface CallForm {
  readonly argumentsAs: "object" | "text";
  /** Some templates write the id in place of the name. */
  readonly idsHaveNames: boolean;
}
const callForms: readonly CallForm[] = [
  { argumentsAs: "object", idsHaveNames: false },
  { argumentsAs: "object", idsHaveNames: true },
  { argumentsAs: "text", idsHaveNames: false },
  { argumentsAs: "text", idsHaveNames: true },
];

/** Tokens that end an answer: a server stops there, and does not send them or what the template puts behind them. */
const stopTokens =
  /<\|(?:eom_id|call|calls|tool_response|END_OF_TURN_TOKEN|START_OF_TURN_TOKEN)\|?>|<｜end▁of▁sentence｜>/;
/** Tokens that some templates put between the question and the answer only in the history. */
const roleTokens = /^\s*(?:<\|CHATBOT_TOKEN\|>|<｜Assistant｜>)/;
const openThinking =
  /(?:<think(?:ing)?>|\[THINK\]|<seed:think>|<mm:think>|<\|START_THINKING\|>|<\|open\|>think<\|sep\|>)\s*$/;

/** What a model writes to make certain calls. */
export interface WrittenAnswer {
  readonly text: string;
  /** Whether the template opened the thinking, so that the text begins within it. */
  readonly startsThinking: boolean;
}

/** The answer to a task as a model writes it. */
export class ChatTemplate {
  readonly #template: JinjaTemplate;
  readonly #form: CallForm | undefined;
  /** Why no answer can be written; undefined if one can. */
  readonly problem: string | undefined;

  constructor(template: JinjaTemplate) {
    this.#template = template;
    const problems: string[] = [];
    this.#form = callForms.find((form) => {
      const problem = this.#problemWith(form);
      if (problem) problems.push(problem);
      return !problem;
    });
    if (!this.#form) this.problem = problems[0];
  }

  /** Undefined if the template refuses it, or leaves calls out: some allow one call in an answer only. */
  write(task: Task): WrittenAnswer | undefined {
    if (!this.#form) return undefined;
    try {
      const answer = this.#write(task, this.#form);
      const writesOnlyTheFirst =
        task.calls.length > 1 &&
        answer.text === this.#write({ ...task, calls: task.calls.slice(0, 1) }, this.#form).text;
      return writesOnlyTheFirst ? undefined : answer;
    } catch {
      return undefined;
    }
  }

  #write(task: Task, form: CallForm): WrittenAnswer {
    const asked = this.#after(task, []);
    const plain = this.#after(task, [{ role: "assistant", content: sentinel }]);
    const calls = toolCalls(task.calls, form);
    const answered = this.#after(task, [
      { role: "assistant", content: "", reasoning_content: thought, tool_calls: calls },
    ]);
    const start = commonStart(asked, answered);
    const stop = plain.slice(plain.lastIndexOf(sentinel) + sentinel.length).trim();
    const text = withoutStop(answered.slice(start).replace(roleTokens, ""), stop);
    const opened = openThinking.exec(asked);
    if (!opened) return { text, startsThinking: false };
    // Some histories leave the thinking out, but the model's answer begins within it.
    const missing = start <= opened.index ? `${thought}\n${closerOf(opened[0].trim())}\n\n` : "";
    return { text: missing + text, startsThinking: true };
  }

  /** What the template writes after the prompt. */
  #after(task: Task, messages: readonly object[]): string {
    const text = this.#render(
      task,
      [{ role: "user", content: task.prompt }, ...messages],
      messages.length === 0,
    );
    return text.slice(text.lastIndexOf(task.prompt) + task.prompt.length);
  }

  #problemWith(form: CallForm): string | undefined {
    const probe: Task = {
      id: "probe",
      prompt: "Hello, probe.",
      functions: [{ name: "probe_tool", description: "Probe.", parameters: probeParameters }],
      calls: [{ name: "probe_tool", arguments: { probe_key: "probe value" } }],
    };
    try {
      const { text } = this.#write(probe, form);
      const hasAll = ["probe_tool", "probe_key", "probe value"].every((part) => text.includes(part));
      const isEncodedTwice = text.includes('\\"probe_key') || text.includes("[object");
      return hasAll && !isEncodedTwice ? undefined : "it has no form for calls";
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
  }

  #render(task: Task, messages: readonly object[], addGenerationPrompt: boolean): string {
    return this.#template.render({
      messages,
      tools: task.functions.map((definition) => ({ type: "function", function: definition })),
      add_generation_prompt: addGenerationPrompt,
      bos_token: "<s>",
      eos_token: "</s>",
      enable_thinking: true,
    });
  }
}

const probeParameters = {
  type: "object",
  properties: { probe_key: { type: "string", description: "A key." } },
};

function toolCalls(calls: readonly Call[], form: CallForm): object[] {
  return calls.map((call, i) => ({
    // Mistral's templates accept nine letters and digits only.
    id: form.idsHaveNames ? `functions.${call.name}:${i}` : `call${String(i).padStart(5, "0")}`,
    type: "function",
    function: {
      name: call.name,
      arguments: form.argumentsAs === "object" ? call.arguments : JSON.stringify(call.arguments),
    },
  }));
}

/** How much of the question is also in front of the answer, without half of a token. */
function commonStart(asked: string, answered: string): number {
  const isSpacedOtherwise = answered.trimStart().startsWith(asked.trim());
  if (isSpacedOtherwise) return answered.indexOf(asked.trim()) + asked.trim().length;
  let end = 0;
  while (end < asked.length && asked[end] === answered[end]) end++;
  return /[<[][^<>[\]\s]*$/.exec(asked.slice(0, end))?.index ?? end;
}

function withoutStop(text: string, stop: string): string {
  const end = stopTokens.exec(text)?.index ?? text.length;
  const trimmed = text.slice(0, end).trimEnd();
  return stop !== "" && trimmed.endsWith(stop) ? trimmed.slice(0, -stop.length).trimEnd() : trimmed;
}

function closerOf(opener: string): string {
  if (opener.startsWith("[")) return opener.replace("[", "[/");
  if (opener.startsWith("<|open")) return opener.replace("open", "close");
  return opener.startsWith("<|") ? opener.replace("START", "END") : opener.replace("<", "</");
}
