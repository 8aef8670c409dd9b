// What is known about model servers and families of models, as two tables. To add a row, see the recipe in
// CONTRIBUTING.md.

import type { ModelProfile, ToolDialect } from "./profile.ts";

export interface ServerProfile {
  readonly name: "ollama" | "lmstudio" | "llamacpp" | "vllm" | "sglang";
  /** Its default port: a hint, until the server has answered. */
  readonly port: string;
  /** What it says as the owner of the models that it lists. */
  readonly ownedBy: string;
  /** What it says in the header `Server`. Default: nothing of its own. */
  readonly header?: string;
  /** The field of a message in which it accepts earlier reasoning. */
  readonly reasoningField: "reasoning_content" | "reasoning";
  /** Whether it removes thinking from the text by default. Default: true. */
  readonly separatesThinking?: false;
  /** Whether it honours `tool_choice`. Default: true. */
  readonly honoursToolChoice?: false;
  /** Whether its `tool_choice` may name a tool. Default: true. */
  readonly namesToolChoice?: false;
  /** Whether it holds a call that must be made to its schema, by a grammar. Default: false. */
  readonly constrainsCalls?: true;
}

export const serverProfiles: readonly ServerProfile[] = [
  // Its OpenAI-compatible API accepts `tool_choice` and ignores it.
  {
    name: "ollama",
    port: "11434",
    ownedBy: "library",
    reasoningField: "reasoning",
    honoursToolChoice: false,
  },
  // It leaves the tags in the text, but adds the opening tag that the template wrote. It refuses a named tool_choice,
  // which llama.cpp ignores.
  {
    name: "lmstudio",
    port: "1234",
    ownedBy: "organization_owner",
    reasoningField: "reasoning",
    namesToolChoice: false,
  },
  {
    name: "llamacpp",
    port: "8080",
    ownedBy: "llamacpp",
    header: "llama.cpp",
    reasoningField: "reasoning_content",
    namesToolChoice: false,
    constrainsCalls: true,
  },
  // These remove thinking only with a reasoning parser, an option that is often left out.
  {
    name: "vllm",
    port: "8000",
    ownedBy: "vllm",
    reasoningField: "reasoning_content",
    separatesThinking: false,
    constrainsCalls: true,
  },
  {
    name: "sglang",
    port: "30000",
    ownedBy: "sglang",
    reasoningField: "reasoning_content",
    separatesThinking: false,
    constrainsCalls: true,
  },
];

export interface FamilyProfile {
  readonly name: string;
  /** Matched against the model's name in lower case. */
  readonly pattern: RegExp;
  /** Why its profile differs, in a few words, for `doctor` and messages. */
  readonly why: string;
  /** Its own dialects, which are tried first. All others are read too. Default: none. */
  readonly dialects?: readonly ToolDialect[];
  /** Whether it expects its reasoning back: in the server's field (`true`), or in think tags. Default: no. */
  readonly sendsBack?: true | "think-tags";
  /** Whether its template writes the opening tag, so that the text begins inside thinking. Default: no. */
  readonly opensThinking?: boolean;
  /** Its own think tags. All others are read too. Default: none. */
  readonly thinkTags?: ModelProfile["thinkTags"];
  /** Default: the server's. */
  readonly outputMode?: ModelProfile["outputMode"];
  /** Default: `calls`. */
  readonly callIds?: ModelProfile["callIds"];
}

/** The first match counts, so narrow patterns, and names of two families (deepseek-r1-distill-qwen), come first. */
export const familyProfiles: readonly FamilyProfile[] = [
  {
    name: "gpt-oss",
    pattern: /gpt-?oss/,
    why: "speaks harmony; needs its reasoning back between tool calls; a grammar breaks its channels",
    dialects: ["harmony"],
    sendsBack: true,
    thinkTags: [["<|channel|>analysis<|message|>", "<|end|>"]],
    outputMode: "prompt",
  },
  {
    name: "deepseek-r1",
    pattern: /deepseek-?r1|r1-distill|\br1\b/,
    why: "its template opens the thinking; its reasoning must not be sent back",
    dialects: ["deepseek"],
    opensThinking: true,
  },
  {
    name: "deepseek-v3.2",
    pattern: /deepseek-?v3\.2/,
    why: "writes DSML; needs its reasoning back between tool calls",
    dialects: ["dsml", "deepseek"],
    sendsBack: true,
  },
  {
    name: "deepseek-v4",
    pattern: /deepseek-?v4/,
    why: "writes DSML; needs its reasoning back between tool calls",
    dialects: ["dsml", "deepseek"],
    sendsBack: true,
  },
  {
    name: "deepseek",
    pattern: /deepseek/,
    why: "writes calls with tokens of its own",
    dialects: ["deepseek"],
  },
  { name: "hermes", pattern: /hermes/, why: "the first to write <tool_call>, whatever its base model" },
  {
    name: "qwen-coder",
    pattern: /qwen-?3(\.\d)?-?coder|qwen-?coder-?next/,
    why: "writes calls as <function=…>, and does not think",
    dialects: ["qwen-coder"],
  },
  {
    name: "qwen3-thinking",
    pattern: /qwen-?3.*thinking/,
    why: "its template opens the thinking; keeps its reasoning between tool calls",
    dialects: ["qwen-coder"],
    sendsBack: true,
    opensThinking: true,
  },
  {
    name: "qwen3.5",
    pattern: /qwen-?3\.[5-9]/,
    why: "its template opens the thinking; keeps its reasoning between tool calls",
    dialects: ["qwen-coder"],
    sendsBack: true,
    opensThinking: true,
  },
  {
    name: "qwen3",
    pattern: /qwen-?3/,
    why: "thinks in tags; keeps its reasoning between tool calls",
    dialects: ["qwen-coder"],
    sendsBack: true,
  },
  { name: "qwq", pattern: /qwq/, why: "its template opens the thinking", opensThinking: true },
  { name: "qwen", pattern: /qwen/, why: "writes <tool_call>", dialects: ["qwen-coder"] },
  {
    name: "magistral",
    pattern: /magistral|ministral-?3/,
    why: "writes [TOOL_CALLS]; thinks in [THINK] or <think>, by version",
    dialects: ["mistral"],
    thinkTags: [
      ["[THINK]", "[/THINK]"],
      ["<think>", "</think>"],
    ],
  },
  {
    name: "mistral",
    pattern: /mistral|ministral|mixtral|devstral|codestral|pixtral|nemo\b/,
    why: "writes [TOOL_CALLS]",
    dialects: ["mistral"],
  },
  {
    name: "nemotron-3",
    pattern: /nemotron-?3/,
    why: "writes calls as <function=…>; its template opens the thinking",
    dialects: ["qwen-coder"],
    opensThinking: true,
  },
  { name: "nemotron", pattern: /nemotron/, why: "writes <TOOLCALL>", dialects: ["granite", "llama"] },
  {
    name: "functionary",
    pattern: /functionary/,
    why: "writes >>>name and <function=…>, by version",
    dialects: ["named-json", "qwen-coder"],
  },
  { name: "xlam", pattern: /xlam/, why: "writes JSON, bare or in a fence", dialects: ["bare-json"] },
  {
    name: "llama",
    pattern: /llama-?[34]|llama3|llama4/,
    why: "writes bare JSON, <|python_tag|> or Python, by version",
    dialects: ["llama", "pythonic"],
  },
  {
    name: "gemma-4",
    pattern: /gemma-?4|gemma4/,
    why: "writes call:name{…} between tokens of its own",
    dialects: ["gemma"],
    thinkTags: [["<|channel>thought", "<channel|>"]],
  },
  {
    name: "functiongemma",
    pattern: /functiongemma/,
    why: "writes <start_function_call>",
    dialects: ["gemma"],
  },
  {
    name: "gemma",
    pattern: /gemma/,
    why: "was not trained on one way of calling: Python, also as tool_code, and JSON are common",
    dialects: ["pythonic"],
  },
  {
    name: "granite",
    pattern: /granite/,
    why: "writes <|tool_call|> or <tool_call>, by version",
    dialects: ["granite"],
  },
  {
    name: "glm-4.7",
    pattern: /glm-?(4\.[7-9]|[5-9])/,
    why: "writes <arg_key>; its template opens the thinking; keeps its reasoning between tool calls",
    dialects: ["glm"],
    sendsBack: true,
    opensThinking: true,
  },
  {
    name: "glm",
    pattern: /glm-?\d|chatglm|\bglm\b/,
    why: "writes <arg_key>; keeps its reasoning between tool calls",
    dialects: ["glm"],
    sendsBack: true,
  },
  {
    name: "kimi-k3",
    pattern: /kimi-?k3/,
    why: "writes tags of tokens; its template opens the thinking; keeps its reasoning between tool calls",
    dialects: ["kimi-k3"],
    sendsBack: true,
    opensThinking: true,
    thinkTags: [["<|open|>think<|sep|>", "<|close|>think<|sep|>"]],
  },
  {
    name: "kimi",
    pattern: /kimi/,
    why: "writes sections of calls; keeps its reasoning between tool calls",
    dialects: ["kimi"],
    sendsBack: true,
    callIds: "functions",
  },
  {
    name: "minimax-m1",
    pattern: /minimax-?m1/,
    why: "writes JSON lines in <tool_calls>",
    dialects: ["granite"],
  },
  {
    name: "minimax-m3",
    pattern: /minimax-?m3/,
    why: "writes nested tags with a mark; expects its thinking back within the text",
    dialects: ["minimax-m3"],
    sendsBack: "think-tags",
    thinkTags: [["<mm:think>", "</mm:think>"]],
  },
  {
    name: "minimax",
    pattern: /minimax/,
    why: "writes <invoke>; its template opens the thinking, and it expects it back within the text",
    dialects: ["minimax"],
    sendsBack: "think-tags",
    opensThinking: true,
  },
  {
    name: "command-a-reasoning",
    pattern: /command-?a.*reasoning/,
    why: "writes <|START_ACTION|>; its template opens the thinking",
    dialects: ["cohere"],
    opensThinking: true,
    thinkTags: [["<|START_THINKING|>", "<|END_THINKING|>"]],
  },
  {
    name: "command",
    pattern: /command-?[ra]|c4ai|cohere/,
    why: "writes <|START_ACTION|>, or a fence after Action:, by version",
    dialects: ["cohere"],
    thinkTags: [["<|START_THINKING|>", "<|END_THINKING|>"]],
  },
  {
    name: "apertus",
    pattern: /apertus/,
    why: "writes the name of the tool as the key of its arguments",
    dialects: ["apertus"],
    thinkTags: [["<|inner_prefix|>", "<|inner_suffix|>"]],
  },
  { name: "gigachat", pattern: /gigachat/, why: "writes <|function_call|>", dialects: ["gigachat"] },
  { name: "minicpm", pattern: /minicpm/, why: "writes <function name=…>", dialects: ["minicpm"] },
  { name: "hunyuan", pattern: /hunyuan|\bhy-?3/, why: "writes <tool_calls>", dialects: ["glm", "granite"] },
  {
    name: "longcat",
    pattern: /longcat/,
    why: "writes <longcat_tool_call>",
    dialects: ["granite"],
    thinkTags: [["<longcat_think>", "</longcat_think>"]],
  },
  {
    name: "step-3.5",
    pattern: /step-?3[.p]5/,
    why: "writes calls as <function=…>; its template opens the thinking",
    dialects: ["qwen-coder"],
    opensThinking: true,
  },
  { name: "step-3", pattern: /\bstep-?3/, why: "writes <steptml:invoke>", dialects: ["step3"] },
  {
    name: "solar",
    pattern: /\bsolar/,
    why: "writes calls and thinking with tokens of its own",
    dialects: ["solar"],
    thinkTags: [["<|think|>", "<|end|>"]],
  },
  {
    name: "muse",
    pattern: /\bmuse|glimmer/,
    why: "writes calls into messages to tools",
    dialects: ["muse"],
    thinkTags: [["to=self<|message|>", "<|eom|>"]],
  },
  {
    name: "inkling",
    pattern: /inkling/,
    why: "writes calls and thinking with tokens of its own",
    dialects: ["inkling"],
    thinkTags: [["<|content_thinking|>", "<|end_message|>"]],
  },
  {
    name: "seed-oss",
    pattern: /seed-?oss/,
    why: "writes calls as <function=…>",
    dialects: ["qwen-coder"],
    thinkTags: [["<seed:think>", "</seed:think>"]],
  },
  {
    name: "olmo-think",
    pattern: /olmo.*think/,
    why: "its template opens the thinking",
    dialects: ["pythonic"],
    opensThinking: true,
  },
  { name: "olmo", pattern: /olmo/, why: "writes Python in <function_calls>", dialects: ["pythonic"] },
  { name: "phi", pattern: /\bphi-?\d/, why: "writes <|tool_call|> or functools", dialects: ["granite"] },
  { name: "lfm", pattern: /\blfm-?\d/, why: "writes Python, or JSON, between tags", dialects: ["pythonic"] },
];
