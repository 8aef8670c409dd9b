// The body of POST /v1/responses, as clients may send it. In every field, null is the same as absent.

import { z } from "zod";
import { input } from "./input-items.ts";
import { metadataSchema } from "./metadata.ts";
import { reasoning, text } from "./text-format.ts";
import { allowedTools, toolChoice } from "./tool-choice.ts";
import { tool } from "./tools.ts";

const flag = z.boolean().nullish();
const word = z.string().nullish();
const share = (min: number, max: number) => z.number().min(min).max(max).nullish();
const count = (min: number, max?: number) => {
  const whole = z.int().min(min);
  return (max === undefined ? whole : whole.max(max)).nullish();
};

/** Longer than the name of any model. */
export const modelName = z.string().min(1).max(256);
const idText = z.string().min(1).max(256);

/** The fields that determine the model's input, shared with counting its tokens. */
const inputShape = {
  model: modelName.nullish(),
  input: input.nullish(),
  instructions: word,
  previous_response_id: idText.nullish(),
  conversation: z.union([idText, z.looseObject({ id: idText })]).nullish(),
  tools: z.array(tool).nullish(),
  tool_choice: toolChoice.nullish(),
  allowed_tools: allowedTools.nullish(),
  parallel_tool_calls: flag,
  reasoning: reasoning.nullish(),
  text: text.nullish(),
  truncation: z.enum(["auto", "disabled"]).nullish(),
};

export const inputTokensSchema = z.looseObject(inputShape);

export const createRequestSchema = z.looseObject({
  ...inputShape,
  stream: flag,
  background: flag,
  store: flag,
  context_management: z
    .array(z.looseObject({ type: z.string(), compact_threshold: count(1) }))
    .max(16)
    .nullish(),
  max_tool_calls: count(0),
  max_output_tokens: count(1),
  /** An extension: the limit of model calls. */
  max_agentic_turns: count(1),
  temperature: share(0, 2),
  top_p: share(0, 1),
  presence_penalty: share(-2, 2),
  frequency_penalty: share(-2, 2),
  top_logprobs: count(0, 20),
  include: z.array(z.string()).nullish(),
  metadata: metadataSchema.nullish(),
  service_tier: word,
  user: word,
  safety_identifier: word,
  prompt_cache_key: word,
});

/** The values of `include` in the API. This server has the reasoning. */
export const includables = [
  "file_search_call.results",
  "web_search_call.results",
  "web_search_call.action.sources",
  "message.input_image.image_url",
  "computer_call_output.output.image_url",
  "code_interpreter_call.outputs",
  "reasoning.encrypted_content",
  "message.output_text.logprobs",
];

/** Fields without effect here: cache and padding hints, and facts about the client. */
export const harmlessFields = [
  "stream_options",
  "prompt_cache_retention",
  "prompt_cache_options",
  "client_metadata",
];
