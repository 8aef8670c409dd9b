// The public API of `rondo/testing`: fast, exact tests of agents without a network.

export { type ChatContent, type ChunkOptions, chatChunks, doneFrame, sseFrame } from "./chat-chunks.ts";
export type { ServerRequest } from "./exchange.ts";
export { type ForbidNetworkOptions, forbidNetwork, NetworkForbiddenError } from "./forbid-network.ts";
export { ModelServer, type ModelServerOptions, type ServerStep, startModelServer } from "./model-server.ts";
export type { PromptCount } from "./prompt-counter.ts";
export { ScriptError } from "./script-error.ts";
export type { ScriptedAnswer, ScriptedCall, ScriptedText } from "./scripted-answer.ts";
export {
  ScriptedModel,
  type ScriptedModelOptions,
  type ScriptedRequest,
  type ScriptedStep,
  scriptedModel,
} from "./scripted-model.ts";
export type { ServerAnswer } from "./server-answer.ts";
