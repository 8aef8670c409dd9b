// Builds the response object from its stored parts: every key of the API, in its order.

import { echoedTools } from "./create-request.ts";
import type { OutputItem } from "./items.ts";
import type {
  IncompleteReason,
  ResponseError,
  ResponseObject,
  ResponseUsage,
  ResponseWarning,
} from "./response.ts";
import type { ResponseStatus } from "./status.ts";
import type { RequestOptions } from "./stored-request.ts";

export interface ResponseParts {
  id: string;
  status: ResponseStatus;
  background: boolean;
  model: string;
  createdAtMs: number;
  completedAtMs: number | null;
  previousResponseId: string | null;
  error: ResponseError | null;
  incompleteReason: IncompleteReason | null;
  usage: ResponseUsage | null;
  /** The request, as `fromStoredRequest` gives it. */
  request: RequestOptions;
  output: readonly OutputItem[];
  /** Known to the run alone, and not stored. Default: none. */
  warnings?: readonly ResponseWarning[];
}

/** The response as clients see it. Numbers that the request leaves open are the API's defaults. */
export function responseObject(parts: ResponseParts): ResponseObject {
  const { request, completedAtMs, incompleteReason } = parts;
  return {
    id: parts.id,
    object: "response",
    created_at: Math.floor(parts.createdAtMs / 1000),
    completed_at: completedAtMs === null ? null : Math.floor(completedAtMs / 1000),
    status: parts.status,
    incomplete_details: incompleteReason === null ? null : { reason: incompleteReason },
    model: parts.model,
    previous_response_id: parts.previousResponseId,
    ...(request.conversation !== undefined && { conversation: { id: request.conversation } }),
    instructions: request.echo.instructions,
    output: [...parts.output],
    error: parts.error,
    tools: echoedTools(request),
    tool_choice: request.echo.tool_choice,
    truncation: request.truncation,
    parallel_tool_calls: request.parallel_tool_calls,
    text: { verbosity: "medium", ...request.text },
    top_p: request.top_p ?? 1,
    presence_penalty: request.presence_penalty ?? 0,
    frequency_penalty: request.frequency_penalty ?? 0,
    top_logprobs: request.top_logprobs ?? 0,
    temperature: request.temperature ?? 1,
    reasoning: request.reasoning,
    usage: parts.usage,
    ...(parts.warnings && parts.warnings.length > 0 && { warnings: [...parts.warnings] }),
    max_output_tokens: request.max_output_tokens ?? null,
    max_tool_calls: request.max_tool_calls ?? null,
    store: request.store,
    background: parts.background,
    service_tier: request.service_tier ?? "default",
    metadata: request.metadata,
    safety_identifier: request.safety_identifier ?? null,
    prompt_cache_key: request.prompt_cache_key ?? null,
  };
}
