// Everything that `@rondo/server` offers to programs. A new export is a decision: what stands here stays.

export { resolveConfig } from "./config/check-config.ts";
export { ConfigError, type ConfigProblem } from "./config/config-error.ts";
export { type LoadOptions, loadConfig } from "./config/load.ts";
export { type ConfigInput, defineConfig, type ServerConfig } from "./config/schema.ts";
export { callItems } from "./executor/call-items.ts";
export type {
  Announcement,
  CallEvent,
  CallItems,
  CallOutcome,
  CallUpdate,
  ExecuteContext,
  OfferedTool,
  OfferRequest,
  RecordedCall,
  ShownCall,
  ToolCall,
  ToolExecutor,
  ToolKind,
  ToolOffer,
  ToolResult,
} from "./executor/executor.ts";
export type { SandboxState } from "./executor/sandbox/sandbox-host.ts";
export type { ToolIdentity } from "./executor/tool-identity.ts";
export { ListenError } from "./http/listen-error.ts";
export type { LogFields, Logger } from "./http/log.ts";
export { type RunningServer, type StartOptions, startServer } from "./http/server.ts";
export { type RunningWorker, startWorker } from "./http/worker.ts";
export type { ExtensionEvent } from "./protocol/events.ts";
export type { ExtensionItem, ExtensionType, OutputItem } from "./protocol/items.ts";
export type { ToolDefinition } from "./protocol/tools.ts";
export type {
  ConversationEntry,
  ConversationHistory,
  ConversationItem,
  ConversationPlace,
  ConversationStore,
  NewConversation,
  StoredConversation,
} from "./store/conversation-store.ts";
export {
  type FileDetails,
  type FileStore,
  type FileUsage,
  fileChunkBytes,
  inFileChunks,
  type ListFilesOptions,
  type NewFile,
  type StoredFile,
} from "./store/file-store.ts";
export type { News, NewsListener } from "./store/news.ts";
export { type OpenStoreOptions, openStore } from "./store/open-store.ts";
export type { ClaimOptions, Job, Lease, RunQueue } from "./store/run-queue.ts";
export type {
  Chain,
  ChainLink,
  KeyClaim,
  ListOptions,
  ListResponsesOptions,
  NewResponse,
  Page,
  RepeatKey,
  ResponseUpdate,
  RunWrite,
  Step,
  Store,
  StoredEvent,
  StoredOutput,
  StoredResponse,
  StoredRun,
} from "./store/store.ts";
export { StoreError, type StoreErrorCode } from "./store/store-error.ts";
