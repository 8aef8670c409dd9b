// Everything that `rondo` offers. A new export is a decision: what stands here stays.

export { Agent, type TurnValue } from "./agent/agent.ts";
export type { AgentScope } from "./agent/agent-json.ts";
export type { AgentBranchOptions, AgentOptions, RunOptions } from "./agent/agent-options.ts";
export { type Lazy, literal } from "./async/lazy.ts";
export type { Run } from "./async/run.ts";
export { ContextItem, type ContextItemOptions } from "./context/context-item.ts";
export { ContextPool, type ContextPoolOptions } from "./context/context-pool.ts";
export {
  type ContextBranchOptions,
  ContextQueue,
  type ContextQueueOptions,
} from "./context/context-queue.ts";
export { InvalidArgumentError, InvalidTypeError } from "./error/argument-errors.ts";
export {
  CompletionCheckReturnError,
  LockTimeoutError,
  SafeExecutionError,
  TimeoutError,
  TurnTimeoutError,
  WrongRunMethodError,
} from "./error/execution-errors.ts";
export { type InputIssue, InvalidInputError } from "./error/input-error.ts";
export { InvalidJsonError, UnserializableError } from "./error/json-errors.ts";
export { type Logger, setLogger } from "./error/logger.ts";
export {
  MissingContextItemError,
  UnregisteredAgentError,
  UnregisteredError,
  UnregisteredHookError,
  UnregisteredToolError,
} from "./error/lookup-errors.ts";
export { RondoError } from "./error/rondo-error.ts";
export type { HookContext, HookEvent, HookEvents, HookFunction } from "./hook/events.ts";
export { type AttachOptions, type Hook, type HookOptions, hook } from "./hook/hook.ts";
export type { JsonObject, JsonValue } from "./json/json-value.ts";
export { AgentRegistry, defaultRegistry, HookRegistry, Registry, ToolRegistry } from "./registry/registry.ts";
export type { RegistryOption } from "./registry/registry-option.ts";
export { type SubtoolOptions, type ToolOptions, tool } from "./tool/define.ts";
export type { GivenInput, InputSchema, ParsedInput } from "./tool/infer.ts";
export type { JsonSchema } from "./tool/json-schema.ts";
export type { ExecuteOptions } from "./tool/run-as-turn.ts";
export type { StandardSchema } from "./tool/standard-schema.ts";
export type { AnyTool, DocTree, InputOf, ItemOf, OpenAITool, OutputOf, Tool } from "./tool/tool.ts";
export type { ToolContext } from "./tool/tool-context.ts";
export { Turn, type TurnInput } from "./turn/turn.ts";
export type { RunTurnOptions, ToolScope, TurnOptions } from "./turn/turn-options.ts";
export type { StopReason } from "./turn/turn-state.ts";
