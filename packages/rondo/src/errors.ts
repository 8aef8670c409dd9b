// Everything that `rondo/errors` offers: all error classes. The root has those that most programs catch.

export {
  InvalidOutputError,
  MaxTurnsError,
  PromptBlockedError,
  UnansweredToolCallsError,
  UnknownToolCallError,
} from "./client/client-errors.ts";
export { InvalidArgumentError, InvalidTypeError } from "./error/argument-errors.ts";
export { ContextLengthError } from "./error/context-length-error.ts";
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
export {
  MissingContextItemError,
  UnregisteredAgentError,
  UnregisteredError,
  UnregisteredHookError,
  UnregisteredToolError,
} from "./error/lookup-errors.ts";
export {
  AnswerLimitError,
  BrokenStreamError,
  EmptyAnswerError,
  ModelConnectionError,
  ModelError,
  ModelIdleTimeoutError,
  ModelTimeoutError,
  ReportedStreamError,
  UnexpectedAnswerError,
} from "./error/model-errors.ts";
export {
  ModelAuthError,
  ModelHttpError,
  ModelNotFoundError,
  ModelRateLimitError,
  ModelRequestError,
  ModelServerError,
} from "./error/model-http-errors.ts";
export { PromptCutError } from "./error/prompt-cut-error.ts";
export { RondoError } from "./error/rondo-error.ts";
export {
  InvalidSessionError,
  SessionLimitError,
  SessionLockedError,
  UnknownSessionError,
} from "./session/session-errors.ts";
