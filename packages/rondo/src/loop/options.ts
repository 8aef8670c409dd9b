// The options of a run of the loop.

import type { Agent } from "../agent/agent.ts";
import type { Message, UserMessage } from "../model/message.ts";
import type { ModelProvider, ModelSettings, OutputFormat, Usage } from "../model/provider.ts";
import type { AnyTool } from "../tool/tool.ts";
import type { OnTrace } from "../trace/run-trace.ts";
import type { RejectReason } from "./events.ts";
import type { PromptWatch } from "./prompt-watch.ts";
import type { RunState } from "./state.ts";

/** A call that waits for a decision. */
export interface PendingCall {
  readonly id: string;
  /** The full name of the tool, `parent.child` for a subtool; for an unknown tool the name that the model wrote. */
  readonly name: string;
  /** The tool that the name means, if there is one. */
  readonly tool: AnyTool | undefined;
  /** The input, valid unless there is a rejection; then what can be read of it. */
  readonly input: Record<string, unknown>;
  /** Why it cannot run: an unknown tool, an input that does not fit … Default: it can. */
  readonly rejection?: { readonly reason: RejectReason; readonly error: string };
  /** Whether the conversation began with it: its name may mean another tool by now. */
  readonly isOpen: boolean;
  readonly signal: AbortSignal;
}

/** What becomes of a call. */
export type CallDecision =
  /**
   * Runs it here, as a turn. `tool` is the one that runs it, whatever its name means; `input` replaces its input. Both
   * are checked as those of the model are. A call that cannot run stays rejected.
   */
  | { readonly type: "run"; readonly tool?: AnyTool; readonly input?: Record<string, unknown> }
  /** Leaves it to the client: it stays without an answer, and the run ends with `client_calls`. */
  | { readonly type: "leave"; readonly input?: Record<string, unknown> }
  /** Leaves it until a person allows it. For the loop that is the same. */
  | { readonly type: "ask" }
  /** Answers it with an error. With `endsRun` the model is not asked again if nothing of its answer ran. */
  | {
      readonly type: "reject";
      readonly error: string;
      /** Default: `denied`. */
      readonly reason?: RejectReason;
      /** Default: false. */
      readonly endsRun?: boolean;
    };

export interface LoopOptions {
  model: ModelProvider;
  /** The tools that the model is offered, with their subtools. Default: none. */
  tools?: Iterable<AnyTool>;
  /** Which of them it is offered and may call. Default: all. */
  isOffered?: (tool: AnyTool) => boolean;
  settings?: ModelSettings;
  /**
   * Default: the server's. `"required"` and a name hold for the first answer only, or the run would never end. With
   * `"none"` no call runs unless `decideCall` says so.
   */
  toolChoice?: "auto" | "none" | "required" | { name: string };
  /** The shape of the answer, for servers that can enforce it. */
  output?: OutputFormat;
  /**
   * Decides about each call: one that can run, and one that cannot. A decider that throws, or gives anything but a
   * decision or undefined, ends the run. Default, and for undefined: what can run runs here, the rest is rejected.
   */
  decideCall?: (call: PendingCall) => Promise<CallDecision | undefined> | CallDecision | undefined;
  /** A prompt that follows the results of the calls that the conversation ends in. Default: none. */
  prompt?: UserMessage;
  /** Continues where an earlier run of this conversation stopped. Default: nothing was done before. */
  state?: RunState;
  /**
   * Whether arguments that are not quite JSON are repaired; otherwise the model is asked for proper JSON. Default: as
   * in the model's profile, where the default is true.
   */
  repairArguments?: boolean;
  /**
   * How often tools are run and the model is asked again. The calls of the next answer are not run, unless it
   * also has calls of the client: then the model is not asked again here anyway. Default: no limit.
   */
  maxToolIterations?: number;
  /** How many calls are run in all, in their order; those of the client do not count. Default: no limit. */
  maxToolCalls?: number;
  /** At either limit, asks the model once more, without tools, for an answer. Default: false. */
  asksForFinalAnswer?: boolean;
  /** Whether nobody needs the deltas: the model may be asked for whole answers. Default: false. */
  asksForWholeAnswers?: boolean;
  /**
   * How often in a row a call is run with the same arguments and the same result, how often one answer may have
   * the same call, and how many answers in a row may have no call that can run. `Infinity`: no limit. Default: 3.
   */
  maxRepeats?: number;
  /**
   * How many tokens of one result of a tool the model reads at once. Of a longer one it reads the beginning and the end,
   * and gets a tool that reads on; the conversation keeps all of it. The tool is offered from the start if this is set,
   * otherwise as soon as it is needed. `Infinity`: no limit. Default: a quarter of the context window; 8,000 if that is
   * not known.
   */
  maxResultTokens?: number;
  /**
   * How many tools the model is offered. With more, or if their definitions take more than a quarter of the context
   * window, it is offered `tool_search` and `call_tool` instead. `Infinity`: no limit. Default: 64.
   */
  maxTools?: number;
  /** Which tools the model has to find with `tool_search`, however few there are. Default: none. */
  isDeferred?: (tool: AnyTool) => boolean;
  /**
   * Whether one of the tools, `tool_search`, finds deferred ones, and its results show their definitions. Then the loop
   * offers only `call_tool`. Default: false.
   */
  hasToolSearch?: boolean;
  /** What is known of earlier prompts of this conversation. Default: nothing yet. */
  promptWatch?: PromptWatch;
  /**
   * What happens where the model server certainly read only a part of the prompt: a `prompt.cut` event, or also a
   * `PromptCutError` before any call of the answer is run. Default: `warn`.
   */
  onPromptCut?: "warn" | "error";
  /**
   * Receives the tokens of each answer once, however it ends, also if the run fails or is left: as the server reported
   * them, or estimated if the answer broke off. Called before `model.finished`. An answer that never began costs nothing.
   */
  onUsage?: (usage: Usage) => void;
  /** Whether calls are reported while they are being written: `call.started`, `call.delta`. Default: true. */
  tellsCallPieces?: boolean;
  /** Whether the calls of one answer run at the same time, within the tools' locks. Default: true. */
  parallelToolCalls?: boolean;
  /** On whose behalf the tools run: they get its context, and its turn hooks fire. */
  agent?: Agent;
  /** Takes a tool's value out of the model's sight, and gives the text that the model reads instead. */
  routeResult?: (value: unknown) => Promise<string | undefined>;
  /** How the result of a call that failed or did not run is written for the model. Default: `{"error":…,"tool":…}`. */
  describeFailure?: (failure: { readonly error: string; readonly tool: string }) => string;
  /** The turn's identity for a call, and the tool's idempotency key. Default: random. */
  turnIdFor?: (callId: string) => string;
  /**
   * Called with each message as soon as it belongs to the conversation, also while a run is being left.
   * `clientCalls` are the ids of the calls in it that the loop leaves open.
   */
  onMessage?: (message: Message, clientCalls: readonly string[]) => void;
  /** Receives what happens in the run, and when: see `TraceEvent`. Default: nobody listens, and nothing is recorded. */
  onTrace?: OnTrace;
  /** Ends the run with `aborted`. */
  signal?: AbortSignal;
  /** How long an aborted tool may clean up before it is left behind. Default: 1,000. */
  graceMs?: number;
}
