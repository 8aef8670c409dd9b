// What is known of families of models, found by their names. The first that matches counts, so the narrower ones
// and those named after two families (deepseek-r1-distill-qwen) come first.

import type { ModelProfile, ToolDialect } from "./profile.ts";

export interface ModelFamily {
  readonly name: string;
  /** Matched with the model's name in lower case. */
  readonly pattern: RegExp;
  /** Why its profile is as it is, in a few words. */
  readonly why: string;
  /** Whether it wants its reasoning back: in the server's field (`true`), or in a way of its own. Default: no. */
  readonly sendsBack?: true | "think-tags";
  /** Whether its template writes the opening tag, so that the text begins inside thinking. Default: no. */
  readonly opensThinking?: boolean;
  readonly profile: Partial<ModelProfile>;
}

export const modelFamilies: readonly ModelFamily[] = [
  {
    name: "gpt-oss",
    pattern: /gpt-?oss/,
    why: "speaks harmony; needs its reasoning back between tool calls; a grammar breaks its channels",
    sendsBack: true,
    profile: {
      thinkTags: [["<|channel|>analysis<|message|>", "<|end|>"]],
      toolDialects: dialects("harmony"),
      outputMode: "prompt",
    },
  },
  {
    name: "deepseek-r1",
    pattern: /deepseek-?r1|r1-distill|\br1\b/,
    why: "its template opens the thinking; its reasoning must not be sent back",
    opensThinking: true,
    profile: { toolDialects: dialects("deepseek") },
  },
  {
    name: "deepseek-v3.2",
    pattern: /deepseek-?v3\.2/,
    why: "needs its reasoning back between tool calls",
    sendsBack: true,
    profile: { toolDialects: dialects("deepseek", "minimax") },
  },
  {
    name: "deepseek",
    pattern: /deepseek/,
    why: "writes calls with tokens of its own",
    profile: { toolDialects: dialects("deepseek") },
  },
  {
    name: "hermes",
    pattern: /hermes/,
    why: "the first to write <tool_call>, whatever model it was trained from",
    profile: { toolDialects: dialects() },
  },
  {
    name: "qwen-coder",
    pattern: /qwen-?3(\.\d)?-?coder|qwen-?coder-?next/,
    why: "writes calls as <function=…>, and does not think",
    profile: { toolDialects: dialects("qwen-coder") },
  },
  {
    name: "qwen3-thinking",
    pattern: /qwen-?3.*thinking/,
    why: "its template opens the thinking; keeps its reasoning between tool calls",
    sendsBack: true,
    opensThinking: true,
    profile: { toolDialects: dialects("qwen-coder") },
  },
  {
    name: "qwen3",
    pattern: /qwen-?3/,
    why: "thinks in tags; keeps its reasoning between tool calls",
    sendsBack: true,
    profile: { toolDialects: dialects("qwen-coder") },
  },
  {
    name: "qwq",
    pattern: /qwq/,
    why: "its template opens the thinking",
    opensThinking: true,
    profile: { toolDialects: dialects() },
  },
  {
    name: "qwen",
    pattern: /qwen/,
    why: "writes <tool_call>",
    profile: { toolDialects: dialects("qwen-coder") },
  },
  {
    name: "magistral",
    pattern: /magistral/,
    why: "thinks in [THINK] or <think>, by version",
    profile: {
      thinkTags: [
        ["[THINK]", "[/THINK]"],
        ["<think>", "</think>"],
      ],
      toolDialects: dialects("mistral"),
    },
  },
  {
    name: "mistral",
    pattern: /mistral|ministral|mixtral|devstral|codestral|pixtral|nemo\b/,
    why: "writes [TOOL_CALLS]",
    profile: { toolDialects: dialects("mistral") },
  },
  {
    name: "nemotron",
    pattern: /nemotron/,
    why: "writes <TOOLCALL>",
    profile: { toolDialects: dialects("granite", "llama") },
  },
  {
    name: "llama",
    pattern: /llama-?[34]|llama3|llama4/,
    why: "writes bare JSON, <|python_tag|> or Python, by version",
    profile: { toolDialects: dialects("llama", "pythonic") },
  },
  {
    name: "gemma",
    pattern: /gemma/,
    why: "was not trained for one way of calling: the most common ones",
    profile: { toolDialects: dialects("pythonic") },
  },
  {
    name: "granite",
    pattern: /granite/,
    why: "writes <|tool_call|> or <tool_call>, by version",
    profile: { toolDialects: dialects("granite") },
  },
  {
    name: "glm",
    pattern: /glm-?\d|chatglm|\bglm\b/,
    why: "writes <arg_key>; keeps its reasoning between tool calls",
    sendsBack: true,
    profile: { toolDialects: dialects("glm") },
  },
  {
    name: "kimi",
    pattern: /kimi/,
    why: "writes sections of calls; keeps its reasoning between tool calls",
    sendsBack: true,
    profile: { toolDialects: dialects("kimi") },
  },
  {
    name: "minimax",
    pattern: /minimax/,
    why: "writes <invoke>; wants its thinking back within the text",
    sendsBack: "think-tags",
    profile: { toolDialects: dialects("minimax") },
  },
  {
    name: "phi",
    pattern: /\bphi-?\d/,
    why: "writes <|tool_call|> or functools",
    profile: { toolDialects: dialects("granite") },
  },
  {
    name: "lfm",
    pattern: /\blfm-?\d/,
    why: "writes Python between tags",
    profile: { toolDialects: dialects("pythonic") },
  },
];

/** Its own ways, and those that its fine-tuned children have most often learned. */
function dialects(...own: readonly ToolDialect[]): readonly ToolDialect[] {
  return [...own, "hermes", "bare-json"];
}
