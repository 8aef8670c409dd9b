// What differs between model servers and models, as data. The loop knows none of it.

import type { toolDialects } from "./reading/dialects/dialects.ts";

/** The name of a dialect in which models write tool calls into their text; `toolDialects` describes each. */
export type ToolDialect = keyof typeof toolDialects;

export interface ModelProfile {
  /** What it is called, for `doctor` and messages. */
  readonly name: string;
  /** Fields of a delta that carry reasoning, the first that is there counts. */
  readonly reasoningFields: readonly string[];
  /** How reasoning of earlier turns is sent back. */
  readonly sendReasoning: "reasoning_content" | "reasoning" | "think-tags" | "none";
  /** Pairs of tags that enclose reasoning in the text. */
  readonly thinkTags: readonly (readonly [open: string, close: string])[];
  /** Whether text starts inside reasoning, as with templates that add the opening tag themselves. */
  readonly startsThinking: boolean;
  /** Dialects of tool calls to look for in text, when tools were offered. */
  readonly toolDialects: readonly ToolDialect[];
  /** Whether `tool_choice` is honoured; else it is not sent, or worded as an instruction. */
  readonly honoursToolChoice: boolean;
  /** How an answer of a given shape is got: by the server, by a tool, or by asking for it. */
  readonly outputMode: "native" | "tool" | "prompt";
  /** Whether each delta has the new text, or all text so far. */
  readonly text: "incremental" | "cumulative";
  /**
   * Whether arguments of calls that are not quite JSON are repaired; otherwise the model is asked for proper JSON.
   * Default: true.
   */
  readonly repairArguments?: boolean;
  /** Whether it has to be asked for a stream even where nobody reads along. Default: false. */
  readonly onlyStreams?: boolean;
  /** How many tokens the model can read and write, if known. */
  readonly contextWindow?: number;
}
