// The tags around thinking, of all families.

export type ThinkTags = readonly (readonly [open: string, close: string])[];

export const knownThinkTags: ThinkTags = [
  ["<think>", "</think>"],
  // Mistral, since Magistral.
  ["[THINK]", "[/THINK]"],
  // gpt-oss.
  ["<|channel|>analysis<|message|>", "<|end|>"],
  ["<|start|>assistant<|channel|>analysis<|message|>", "<|end|>"],
  // Gemma 4; it names the channel, or does not.
  ["<|channel>thought", "<channel|>"],
  ["<|channel>", "<channel|>"],
  // Cohere.
  ["<|START_THINKING|>", "<|END_THINKING|>"],
  ["<seed:think>", "</seed:think>"],
  // MiniMax M3.
  ["<mm:think>", "</mm:think>"],
  ["<longcat_think>", "</longcat_think>"],
  // Apertus.
  ["<|inner_prefix|>", "<|inner_suffix|>"],
  // Kimi K3.
  ["<|open|>think<|sep|>", "<|close|>think<|sep|>"],
  // Solar.
  ["<|begin|>assistant<|think|>", "<|end|>"],
  ["<|think|>", "<|end|>"],
  // Muse.
  ["<|start|>assistant to=self<|message|>", "<|eom|>"],
  ["to=self<|message|>", "<|eom|>"],
  // Inkling.
  ["<|message_model|><|content_thinking|>", "<|end_message|>"],
  ["<|content_thinking|>", "<|end_message|>"],
];

/** Closing tags that end other messages too: alone they do not show that thinking ended. */
export const sharedCloses: ReadonlySet<string> = new Set(["<|end|>", "<|eom|>", "<|end_message|>"]);
