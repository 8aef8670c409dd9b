// Structured output: how the model is asked for it, and how its answer is parsed.

import type { RunReason } from "../loop/events.ts";
import { parseArguments } from "../model/parse-arguments.ts";
import type { ModelProfile } from "../model/profile.ts";
import type { OutputFormat } from "../model/provider.ts";
import { tool } from "../tool/define.ts";
import type { InputSchema } from "../tool/infer.ts";
import { type CompiledInput, compileInput } from "../tool/input-schema.ts";
import type { AnyTool } from "../tool/tool.ts";
import type { BlockReader } from "./blocks.ts";

const answerToolName = "final_answer";

/** An answer, with its output, or with what is wrong with it and how the model is asked again. */
type OutputAnswer =
  | { readonly text: string; readonly output: unknown }
  | { readonly text: string; readonly problem: string; readonly correction: string };

export class StructuredOutput {
  readonly #compiled: CompiledInput;
  /** It may change until a request is made, when the server has told what it is. */
  readonly #profile: () => ModelProfile;
  /** The tool through which a model answers, if its profile says so. */
  readonly answerTool: AnyTool | undefined;

  constructor(schema: InputSchema, profile: () => ModelProfile) {
    this.#compiled = compileInput(schema);
    this.#profile = profile;
    this.answerTool =
      this.#mode === "tool"
        ? tool(answerToolName, "Give the final answer.", this.#compiled.jsonSchema, (input) => input)
        : undefined;
  }

  get #mode(): ModelProfile["outputMode"] {
    return this.#profile().outputMode;
  }

  /** For servers that enforce a shape themselves. */
  get format(): OutputFormat | undefined {
    return this.#mode === "tool" ? undefined : { name: "answer", schema: this.#compiled.jsonSchema };
  }

  /** What is added to the system prompt. With tools, the model is told a shape that is enforced only in the end. */
  instruction({ hasTools }: { hasTools: boolean }): string {
    const isEnforced = this.#mode === "native";
    if (isEnforced && !(hasTools && this.#profile().shapeWithTools === "last")) return "";
    if (this.#mode === "tool")
      return `When you are done, call the tool ${answerToolName} with your answer. Do not answer with text.`;
    const schema = JSON.stringify(this.#compiled.jsonSchema);
    const when = hasTools ? "When you need no more tools, answer" : "Answer";
    return `${when} with one JSON object and nothing else. It must fit this JSON Schema: ${schema}`;
  }

  /** The output of a run that ended with `text` or a call; nothing where it ended without an answer. */
  async read(
    reason: RunReason,
    { answerCall, answerProblem }: Pick<BlockReader, "answerCall" | "answerProblem">,
    text: string,
  ): Promise<OutputAnswer | undefined> {
    if (reason !== "completed" && reason !== "client_calls") return undefined;
    if (answerCall) return this.#parse(JSON.stringify(answerCall.input), answerCall.input);
    if (reason === "client_calls")
      return answerProblem === undefined ? undefined : this.#refuse(text, answerProblem);
    const { parse, jsonSchema } = this.#compiled;
    const parsed = await parseArguments(text, async (value) => "value" in (await parse(value)), jsonSchema);
    return "input" in parsed ? this.#parse(text, parsed.input) : this.#refuse(text, parsed.error);
  }

  async #parse(text: string, value: Record<string, unknown>): Promise<OutputAnswer> {
    const result = await this.#compiled.parse(value);
    if ("value" in result) return { text, output: result.value };
    const list = result.issues.map(({ path, message }) => (path === "" ? message : `${path}: ${message}`));
    return this.#refuse(text, `${list.join("; ")}.`);
  }

  #refuse(text: string, problem: string): OutputAnswer {
    const correction = `Your answer does not have the required shape: ${problem} Give the whole answer again. ${this.instruction({ hasTools: false })}`;
    return { text, problem, correction: correction.trim() };
  }
}
