// What differs between model servers and models, as data. The loop knows none of it.

import type { toolDialects } from "./reading/dialects/dialects.ts";

/** The name of a dialect in which models write tool calls into their text; `toolDialects` describes each. */
export type ToolDialect = keyof typeof toolDialects;

export interface ModelProfile {
  /** Its name, for `doctor` and messages. */
  readonly name: string;
  /** Fields of a delta that may carry reasoning; the first that does is used. */
  readonly reasoningFields: readonly string[];
  /** How the reasoning of earlier answers is sent back. */
  readonly sendReasoning: "reasoning_content" | "reasoning" | "think-tags" | "none";
  /** Pairs of tags that enclose reasoning in the text. */
  readonly thinkTags: readonly (readonly [open: string, close: string])[];
  /** Whether the text starts inside reasoning, because the template writes the opening tag. */
  readonly startsThinking: boolean;
  /** Dialects of tool calls to look for in text, when tools were offered. */
  readonly toolDialects: readonly ToolDialect[];
  /** Whether `tool_choice` is honoured; otherwise it becomes an instruction, or is left out. */
  readonly honoursToolChoice: boolean;
  /**
   * Whether a `tool_choice` may name a tool; otherwise only that tool is offered, and a call is required.
   * Default: true.
   */
  readonly namesToolChoice?: boolean;
  /** How structured output is requested: from the server, by a tool, or in the prompt. */
  readonly outputMode: "native" | "tool" | "prompt";
  /**
   * When a shape that the server enforces is requested, if the model may call tools: together with them, or last, once
   * it calls none any more. On most servers the grammar of a shape forbids all calls. Default: `together`.
   */
  readonly shapeWithTools?: "together" | "last";
  /** Whether each delta has the new text, or all the text so far. */
  readonly text: "incremental" | "cumulative";
  /**
   * Whether invalid JSON in the arguments of calls is repaired; otherwise the model is asked for valid JSON.
   * Default: true.
   */
  readonly repairArguments?: boolean;
  /** Whether answers must be streamed even if no consumer needs a stream. Default: false. */
  readonly onlyStreams?: boolean;
  /**
   * Whether the server holds a call that must be made to the schema of its tool. Then the second try of a call that did
   * not fit its schema is asked for in this way. Default: false.
   */
  readonly constrainsCalls?: boolean;
  /**
   * How the calls of earlier answers are numbered: `call00000`, or `functions.NAME:0` as Kimi's template expects.
   * Default: `calls`.
   */
  readonly callIds?: "calls" | "functions";
  /** How many tokens the model can read and write, if known. */
  readonly contextWindow?: number;
}
