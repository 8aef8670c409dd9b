// The entry `rondo/sandbox`: code of a model, run where it can do no harm. It needs Node.

export type {
  CodeCall,
  CodeOutcome,
  CodeOutput,
  Interpreter,
  Language,
  RunCodeOptions,
} from "./interpreter.ts";
export { completeLimits, defaultLimits } from "./limits.ts";
export type {
  Container,
  ContainerFile,
  ContainerRecord,
  ExecRequest,
  Execution,
  LimitName,
  NetworkPolicy,
  OpenOptions,
  Outcome,
  OutputChunk,
  Sandbox,
  SandboxCheck,
  SandboxLimits,
  SandboxMount,
  SandboxProbe,
  StoredContainer,
} from "./sandbox.ts";
export {
  InvalidPathError,
  MissingFileError,
  SandboxClosedError,
  SandboxLimitError,
  SandboxUnavailableError,
} from "./sandbox-errors.ts";
