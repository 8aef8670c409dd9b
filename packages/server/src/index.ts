// Everything that `@rondo/server` offers to programs. A new export is a decision: what stands here stays.

export { resolveConfig } from "./config/check-config.ts";
export { ConfigError, type ConfigProblem } from "./config/config-error.ts";
export { type LoadOptions, loadConfig } from "./config/load.ts";
export { type ConfigInput, defineConfig, type ServerConfig } from "./config/schema.ts";
export type { ExecuteContext, ToolCall, ToolExecutor, ToolKind, ToolResult } from "./executor/executor.ts";
export { ListenError } from "./http/listen-error.ts";
export type { LogFields, Logger } from "./http/log.ts";
export { type RunningServer, type StartOptions, startServer } from "./http/server.ts";
export type { ToolDefinition } from "./protocol/tools.ts";
export { StoreError, type StoreErrorCode } from "./store/store-error.ts";
