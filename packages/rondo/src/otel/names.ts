// All names of spans, attributes and events. The conventions of OpenTelemetry for generative AI still move and have no
// stable release: these are those of github.com/open-telemetry/semantic-conventions-genai at commit 024a4f9, which goes
// with version 1.44.0 of the general conventions. What they have no name for begins with `rondo.`.

/** The name of the instrumentation, which is the scope of its spans. */
export const scopeName = "rondo";

/** Values of `gen_ai.operation.name`, which begin the names of spans. */
export const operations = { agent: "invoke_agent", chat: "chat", tool: "execute_tool" } as const;

/** The conventions for generative AI, and the general ones that they refer to. */
export const genAi = {
  operation: "gen_ai.operation.name",
  provider: "gen_ai.provider.name",
  agentName: "gen_ai.agent.name",
  conversationId: "gen_ai.conversation.id",
  outputType: "gen_ai.output.type",
  requestModel: "gen_ai.request.model",
  temperature: "gen_ai.request.temperature",
  maxTokens: "gen_ai.request.max_tokens",
  topP: "gen_ai.request.top_p",
  seed: "gen_ai.request.seed",
  stop: "gen_ai.request.stop_sequences",
  isStream: "gen_ai.request.stream",
  previousResponse: "gen_ai.request.previous_response.id",
  finishReasons: "gen_ai.response.finish_reasons",
  responseId: "gen_ai.response.id",
  /** In seconds, from the request to the first token. */
  firstChunk: "gen_ai.response.time_to_first_chunk",
  inputTokens: "gen_ai.usage.input_tokens",
  outputTokens: "gen_ai.usage.output_tokens",
  cachedTokens: "gen_ai.usage.cache_read.input_tokens",
  reasoningTokens: "gen_ai.usage.reasoning.output_tokens",
  inputMessages: "gen_ai.input.messages",
  outputMessages: "gen_ai.output.messages",
  toolDefinitions: "gen_ai.tool.definitions",
  toolName: "gen_ai.tool.name",
  toolType: "gen_ai.tool.type",
  toolCallId: "gen_ai.tool.call.id",
  toolArguments: "gen_ai.tool.call.arguments",
  toolResult: "gen_ai.tool.call.result",
  errorType: "error.type",
  serverAddress: "server.address",
  serverPort: "server.port",
  httpStatus: "http.response.status_code",
} as const;

/** What `gen_ai.provider.name` says, unless the user does: no value of the conventions means a server of one's own. */
export const defaultProvider = "openai_compatible";

/** Begins what the conventions do not have. */
export const ownPrefix = "rondo.";

/** Attributes that the conventions do not have. */
export const own = {
  /** Why the run ended: `completed`, `aborted`, `max_turns` … */
  runReason: "rondo.run.reason",
  /** Why the turn ended. */
  stopReason: "rondo.turn.stop_reason",
  attempt: "rondo.attempt",
  waitMs: "rondo.wait_ms",
  requestBytes: "rondo.request.bytes",
  /** How many values a streaming tool yielded. */
  progress: "rondo.turn.progress_count",
  contextWindow: "rondo.model.context_window",
  decision: "rondo.call.decision",
  reason: "rondo.call.reason",
  doubts: "rondo.call.doubts",
  code: "rondo.warning.code",
  message: "rondo.message",
} as const;

/** Events of spans. */
export const events = {
  slotAwaited: "rondo.slot.awaited",
  slotTaken: "rondo.slot.taken",
  requestSent: "rondo.request.sent",
  requestRetried: "rondo.request.retried",
  modelAccepted: "rondo.model.accepted",
  modelStarted: "rondo.model.started",
  lockAwaited: "rondo.lock.awaited",
  lockTaken: "rondo.lock.taken",
  callChecked: "rondo.call.checked",
  warning: "rondo.warning",
} as const;

/** The names of OpenInference, which Arize Phoenix and others read, at commit 1fe497f. */
export const openInference = {
  kind: "openinference.span.kind",
  kinds: { agent: "AGENT", chat: "LLM", tool: "TOOL" },
  system: "llm.system",
  model: "llm.model_name",
  parameters: "llm.invocation_parameters",
  promptTokens: "llm.token_count.prompt",
  completionTokens: "llm.token_count.completion",
  totalTokens: "llm.token_count.total",
  cachedTokens: "llm.token_count.prompt_details.cache_read",
  reasoningTokens: "llm.token_count.completion_details.reasoning",
  agentName: "agent.name",
  sessionId: "session.id",
  toolName: "tool.name",
  toolId: "tool.id",
  input: "input.value",
  inputType: "input.mime_type",
  output: "output.value",
  outputType: "output.mime_type",
  inputMessages: "llm.input_messages",
  outputMessages: "llm.output_messages",
  role: "message.role",
  content: "message.content",
  answers: "message.tool_call_id",
  calls: "message.tool_calls",
  callId: "tool_call.id",
  callName: "tool_call.function.name",
  callArguments: "tool_call.function.arguments",
} as const;
