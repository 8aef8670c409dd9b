// What is known of the servers that people run on their own machines.

import type { ModelProfile } from "./profile.ts";

export interface ModelServerKind {
  readonly name: string;
  /** Where it listens unless it is told otherwise. */
  readonly port: string;
  /** The field of a message in which it takes reasoning back. */
  readonly reasoningField: "reasoning_content" | "reasoning";
  /** Whether it takes thinking out of the text by itself, unless it is told not to. */
  readonly separatesThinking: boolean;
  readonly profile: Partial<ModelProfile>;
}

export const modelServers: readonly ModelServerKind[] = [
  {
    name: "ollama",
    port: "11434",
    reasoningField: "reasoning",
    separatesThinking: true,
    // Its OpenAI-compatible API takes `tool_choice` and does nothing with it.
    profile: { honoursToolChoice: false, outputMode: "native" },
  },
  {
    name: "lmstudio",
    port: "1234",
    reasoningField: "reasoning",
    // It leaves the tags in the text, but opens what the template opened.
    separatesThinking: true,
    profile: { outputMode: "native" },
  },
  {
    name: "llamacpp",
    port: "8080",
    reasoningField: "reasoning_content",
    separatesThinking: true,
    profile: { outputMode: "native" },
  },
  {
    name: "vllm",
    port: "8000",
    reasoningField: "reasoning_content",
    // Only with a reasoning parser, which is an option that is often left out.
    separatesThinking: false,
    profile: { outputMode: "native" },
  },
];
