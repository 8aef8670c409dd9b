// Everything that `rondo` offers. A new export is a decision: what stands here stays.

export type { AgentScope } from "./agent/agent-json.ts";
export type { AgentBranchOptions, AgentOptions, RunOptions } from "./agent/agent-options.ts";
export type { TurnValue } from "./agent/agent-values.ts";
export { describeContext, type ThinkingOptions } from "./agent/thinking.ts";
export type { TurnRetries } from "./agent/turn-retries.ts";
export { type Lazy, literal } from "./async/lazy.ts";
export type { Run } from "./async/run.ts";
export type {
  Block,
  ServerEventBlock,
  TextBlock,
  ThinkingBlock,
  ToolResultBlock,
  ToolUseBlock,
  ToolUseDeltaBlock,
  ToolUseErrorBlock,
} from "./client/blocks.ts";
export { Client, type RunResult } from "./client/client.ts";
export {
  InvalidOutputError,
  MaxTurnsError,
  PromptBlockedError,
  UnansweredToolCallsError,
} from "./client/client-errors.ts";
export {
  type ClientHookHandler,
  type ClientHooks,
  HOOK_POST_TOOL_USE,
  HOOK_PRE_TOOL_USE,
  HOOK_USER_PROMPT_SUBMIT,
  type HookDecision,
  type PostToolUseEvent,
  type PreToolUseEvent,
  type UserPromptSubmitEvent,
} from "./client/client-hooks.ts";
export type { CanUseTool, ClientOptions } from "./client/client-options.ts";
export { type ImageOptions, type ImagePart, image } from "./client/images.ts";
export {
  type AssistantMessage,
  type Query,
  type QueryMessage,
  type QueryOptions,
  query,
  type ResultMessage,
  type SystemMessage,
  type UserMessage,
} from "./client/query.ts";
export { Agent } from "./client/thinking-agent.ts";
export { ContextItem, type ContextItemOptions } from "./context/context-item.ts";
export { ContextPool, type ContextPoolOptions } from "./context/context-pool.ts";
export {
  type ContextBranchOptions,
  ContextQueue,
  type ContextQueueOptions,
} from "./context/context-queue.ts";
export { InvalidArgumentError } from "./error/argument-errors.ts";
export { LockTimeoutError, SafeExecutionError, TimeoutError } from "./error/execution-errors.ts";
export { InvalidInputError } from "./error/input-error.ts";
export { type Logger, setLogger } from "./error/logger.ts";
export { ModelError } from "./error/model-errors.ts";
export { RondoError } from "./error/rondo-error.ts";
export type { HookContext, HookEvent, HookEvents, HookFunction } from "./hook/events.ts";
export { type AttachOptions, type Hook, type HookOptions, hook } from "./hook/hook.ts";
export type { JsonObject, JsonValue } from "./json/json-value.ts";
export { type OpenAICompatibleOptions, openaiCompatible } from "./model/chat-completions.ts";
export { fallback } from "./model/fallback.ts";
export type { ContentPart, Message, ToolCall } from "./model/message.ts";
export { llamacpp, lmstudio, ollama, type PresetOptions, vllm } from "./model/presets.ts";
export type { ModelProvider, ModelSettings, Usage } from "./model/provider.ts";
export { responsesModel } from "./model/responses/responses-model.ts";
export type { RetryOptions } from "./model/retry.ts";
export { AgentRegistry, defaultRegistry, HookRegistry, Registry, ToolRegistry } from "./registry/registry.ts";
export type { RegistryOption } from "./registry/registry-option.ts";
export { memorySessions } from "./session/memory-sessions.ts";
export { loadSession, type Session } from "./session/session.ts";
export type { SessionEntry, SessionStart, SessionStore, SessionSummary } from "./session/store.ts";
export { type SubtoolOptions, type ToolOptions, tool } from "./tool/define.ts";
export type { GivenInput, InputSchema, ParsedInput } from "./tool/infer.ts";
export type { JsonSchema } from "./tool/json-schema.ts";
export type { ExecuteOptions } from "./tool/run-as-turn.ts";
export type { StandardSchema } from "./tool/standard-schema.ts";
export type { AnyTool, DocTree, InputOf, ItemOf, OpenAITool, OutputOf, Tool } from "./tool/tool.ts";
export type { ToolContext } from "./tool/tool-context.ts";
export type { ToolSource } from "./tool/tool-source.ts";
export type { OnTrace } from "./trace/run-trace.ts";
export type { TraceError, TraceEvent, Tracer } from "./trace/trace.ts";
export { Turn, type TurnInput } from "./turn/turn.ts";
export type { RunTurnOptions, ToolScope, TurnOptions } from "./turn/turn-options.ts";
export type { StopReason } from "./turn/turn-state.ts";
