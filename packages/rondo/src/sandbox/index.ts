// The entry `rondo/sandbox`: code of a model, run where it can do no harm. It needs Node.

export { type BwrapOptions, bwrap } from "./bwrap/bwrap.ts";
export type { EgressOptions } from "./bwrap/egress.ts";
export { ContainerPool, type ContainerPoolOptions, type WarmContainer } from "./container-pool.ts";
export type {
  CodeCall,
  CodeOutcome,
  CodeOutput,
  Interpreter,
  Language,
  RunCodeOptions,
} from "./interpreter/interpreter.ts";
export { type OpenInterpreterOptions, openInterpreter } from "./interpreter/open-interpreter.ts";
export { type KubernetesOptions, kubernetes } from "./kubernetes/kubernetes.ts";
export { limitMessage } from "./limit-messages.ts";
export { completeLimits, defaultLimits } from "./limits.ts";
export { type NarrowedHosts, narrowAllowedHosts } from "./network/allowed-hosts.ts";
export { EgressProxy, type EgressProxyOptions } from "./network/egress-proxy.ts";
export type { ResolveHost } from "./network/guarded-connect.ts";
export { defaultNetworkLimits, type NetworkLimits } from "./network/traffic.ts";
export { plainText } from "./plain-text.ts";
export { type FinishedExecution, readExecution } from "./read-execution.ts";
export { type RunscOptions, runsc } from "./runsc/runsc.ts";
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
export { type CodeInterpreterOptions, codeInterpreter } from "./tools/code-interpreter.ts";
export { codeResultText, outcomeText, type ResultPart } from "./tools/code-result.ts";
export {
  runShellCommand,
  type ShellCommandOptions,
  type ShellInput,
  type ShellOptions,
  type ShellResult,
  shell,
} from "./tools/shell.ts";
