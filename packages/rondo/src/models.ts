// Everything that `rondo/models` offers: profiles, lists of models, and what a provider of your own needs.

export { type ChatForwarder, chatForwarder, type ForwardRequest } from "./model/chat-forwarder.ts";
export { ollamaBaseUrl } from "./model/environment.ts";
export type { FetchFunction } from "./model/http/send-by.ts";
export {
  type EndpointFacts,
  type LearnEndpointOptions,
  learnEndpoint,
} from "./model/learning/learn-endpoint.ts";
export { type ListModelsOptions, listModels } from "./model/list-models.ts";
export type { ContentPart, Message, ToolCall } from "./model/message.ts";
export type { ModelProfile, ToolDialect } from "./model/profile.ts";
export {
  commonProfile,
  type PickedProfile,
  type ProfileFact,
  type ProfileOrigin,
  type ProfileQuestion,
  pickProfile,
  profileFacts,
} from "./model/profiles.ts";
export type {
  FinishReason,
  LearnOptions,
  ModelDelta,
  ModelProvider,
  ModelRequest,
  ModelSettings,
  OutputFormat,
  Usage,
} from "./model/provider.ts";
export type { ApprovalRequest } from "./model/responses/ask-responses.ts";
export type { ResponsesModelOptions } from "./model/responses/responses-model.ts";
export { type SlotsInUse, slotsInUse } from "./model/slots.ts";
