// An answer of a given shape: how the model is asked for it, and how its answer is read.

import { parseArguments } from "../model/parse-arguments.ts";
import type { ModelProfile } from "../model/profile.ts";
import type { OutputFormat } from "../model/provider.ts";
import { tool } from "../tool/define.ts";
import type { InputSchema } from "../tool/infer.ts";
import { type CompiledInput, compileInput } from "../tool/input-schema.ts";
import type { AnyTool } from "../tool/tool.ts";

const answerToolName = "final_answer";

export class StructuredOutput {
  readonly #compiled: CompiledInput;
  readonly #mode: ModelProfile["outputMode"];
  /** The tool through which a model answers that cannot be made to answer in JSON. */
  readonly answerTool: AnyTool | undefined;

  constructor(schema: InputSchema, mode: ModelProfile["outputMode"]) {
    this.#compiled = compileInput(schema);
    this.#mode = mode;
    this.answerTool =
      mode === "tool"
        ? tool(answerToolName, "Give the final answer.", this.#compiled.jsonSchema, (input) => input)
        : undefined;
  }

  /** For servers that enforce a shape themselves. */
  get format(): OutputFormat | undefined {
    return this.#mode === "native" ? { name: "answer", schema: this.#compiled.jsonSchema } : undefined;
  }

  /** What is added to the system prompt. */
  get instruction(): string {
    if (this.#mode === "native") return "";
    if (this.#mode === "tool")
      return `When you are done, call the tool ${answerToolName} with your answer. Do not answer with text.`;
    const schema = JSON.stringify(this.#compiled.jsonSchema);
    return `Answer with one JSON object and nothing else. It must fit this JSON Schema: ${schema}`;
  }

  /** Reads an answer that came as text. */
  async parseText(text: string): Promise<{ output: unknown } | { problem: string }> {
    const { parse, jsonSchema } = this.#compiled;
    const parsed = await parseArguments(text, async (value) => "value" in (await parse(value)), jsonSchema);
    return "input" in parsed ? this.parseValue(parsed.input) : { problem: parsed.error };
  }

  /** Reads an answer that came as the arguments of a call. */
  async parseValue(value: Record<string, unknown>): Promise<{ output: unknown } | { problem: string }> {
    const result = await this.#compiled.parse(value);
    if ("value" in result) return { output: result.value };
    const list = result.issues.map(({ path, message }) => (path === "" ? message : `${path}: ${message}`));
    return { problem: `${list.join("; ")}.` };
  }

  /** What a model is told whose answer does not fit. */
  correction(problem: string): string {
    return `Your answer does not have the required shape: ${problem} Give the whole answer again. ${this.instruction}`.trim();
  }
}
