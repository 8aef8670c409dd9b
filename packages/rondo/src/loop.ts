// Everything that `rondo/loop` offers: the loop underneath clients, agents and the server.

export type { LoopEvent, ReadyCall, RejectReason, RunReason } from "./loop/events.ts";
export { resultLimit, shortenResults } from "./loop/fit-results.ts";
export type { CallDecision, LoopOptions, PendingCall } from "./loop/options.ts";
export { type PromptChange, type PromptCut, PromptWatch } from "./loop/prompt-watch.ts";
export { run, runToEnd } from "./loop/run.ts";
export type { RunState } from "./loop/state.ts";
export { resultText } from "./loop/tool-result.ts";
export { foundTools, toolSearchName } from "./loop/tool-search.ts";
export type { OnTrace } from "./trace/run-trace.ts";
export type { TraceError, TraceEvent, Tracer } from "./trace/trace.ts";
