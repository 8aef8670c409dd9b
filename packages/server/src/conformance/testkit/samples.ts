// Parts of streams and responses as the server is to send them, for tests of the checkers.

export const usage = {
  input_tokens: 1,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens: 2,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: 3,
};

/** A finished message. */
export function message(text: string, change: object = {}): Record<string, unknown> {
  return {
    type: "message",
    id: "msg_1",
    role: "assistant",
    status: "completed",
    content: [{ type: "output_text", text, annotations: [], logprobs: [] }],
    ...change,
  };
}

/** A response that has ended well. */
export function responseOf(change: object = {}): Record<string, unknown> {
  return {
    id: "resp_1",
    object: "response",
    created_at: 1,
    completed_at: 2,
    status: "completed",
    background: false,
    error: null,
    incomplete_details: null,
    instructions: null,
    max_output_tokens: null,
    max_tool_calls: null,
    model: "test",
    output: [message("Hello")],
    parallel_tool_calls: true,
    previous_response_id: null,
    prompt_cache_key: null,
    reasoning: { effort: null, summary: null },
    safety_identifier: null,
    service_tier: "default",
    store: true,
    temperature: 1,
    text: { format: { type: "text" } },
    tool_choice: "auto",
    tools: [],
    top_logprobs: 0,
    top_p: 1,
    presence_penalty: 0,
    frequency_penalty: 0,
    truncation: "disabled",
    usage,
    metadata: {},
    ...change,
  };
}
