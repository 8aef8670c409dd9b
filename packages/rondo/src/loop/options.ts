// What a run of the loop can be told.

import type { Agent } from "../agent/agent.ts";
import type { Message } from "../model/message.ts";
import type { ModelProvider, ModelSettings, OutputFormat } from "../model/provider.ts";
import type { AnyTool } from "../tool/tool.ts";
import type { ReadyCall } from "./events.ts";

/** What a check of a call says: nothing to let it pass, or what is different. */
export interface CallDecision {
  /** `false` keeps the tool from running; the model is told why. Default: true. */
  readonly continue?: boolean;
  /** Replaces the input. It is validated again. */
  readonly modifiedInput?: Record<string, unknown>;
  /** Why, for the model to read. */
  readonly reason?: string;
}

/** A call on its way to its tool. */
export interface PendingCall extends ReadyCall {
  readonly tool: AnyTool;
  readonly signal: AbortSignal;
}

/** What becomes of a call that a conversation ends in: the tool that runs it here, the client's, or why it is not run. */
export type OpenCallDecision =
  | { readonly tool: AnyTool }
  | { readonly isForClient: true }
  | { readonly error: string };

export interface LoopOptions {
  model: ModelProvider;
  /** The tools that the model is offered, with their subtools. Default: none. */
  tools?: Iterable<AnyTool>;
  settings?: ModelSettings;
  /** Default: the server's. `"required"` and a name hold for the first answer only, or the run would never end. */
  toolChoice?: "auto" | "none" | "required" | { name: string };
  /** The shape of the answer, for servers that can enforce it. */
  output?: OutputFormat;
  /** Which tools run here. The calls of the others end the run with `client_calls`. Default: all. */
  runsHere?: (tool: AnyTool) => boolean;
  /**
   * Decides about each call that the conversation ends in, because its name may mean another tool by now. What it
   * gives holds for that call alone, whatever `runsHere` says. Default: such calls are looked up by name.
   */
  decideOpenCall?: (call: { readonly id: string; readonly name: string }) => OpenCallDecision | undefined;
  /**
   * Where every tool is the client's: whether the model is told what is wrong with calls that cannot run and is
   * asked again, so that the client gets only calls that can. Default: false, the client decides.
   */
  correctsCalls?: boolean;
  /** Which tools the model may use; the others are not offered. Default: all. */
  isAllowed?: (tool: AnyTool) => boolean;
  /** Offers also the tools that are not allowed, so that what the model reads stays the same. Default: false. */
  offersAll?: boolean;
  /** Asked for each valid call, before `beforeCall`: approval by a person, for example. */
  canUseTool?: (call: PendingCall) => Promise<CallDecision | undefined | null>;
  /** Asked for each approved call. One that throws ends the run. */
  beforeCall?: (call: PendingCall) => Promise<CallDecision | undefined | null>;
  /**
   * Whether arguments that are not quite JSON are repaired; otherwise the model is asked for proper JSON. Default: what
   * the model's profile says, which is true if it says nothing.
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
  /** Whether calls are told while they are still being written: `call.started`, `call.delta`. Default: true. */
  tellsCallPieces?: boolean;
  /** Whether the calls of one answer run at the same time, within the tools' locks. Default: true. */
  parallelToolCalls?: boolean;
  /** On whose behalf the tools run: they get its context, and its turn hooks fire. */
  agent?: Agent;
  /** Takes what a tool has produced out of the way of the model, and gives what the model is told instead. */
  routeResult?: (value: unknown) => Promise<string | undefined>;
  /** The turn's identity for a call, and the tool's idempotency key. Default: random. */
  turnIdFor?: (callId: string) => string;
  /**
   * Called with each message as soon as it belongs to the conversation, also while a run is being left.
   * `clientCalls` are the ids of the calls in it that the loop will not answer, because `runsHere` says so.
   */
  onMessage?: (message: Message, clientCalls: readonly string[]) => void;
  /** Ends the run with `aborted`. */
  signal?: AbortSignal;
  /** How long an aborted tool may clean up before it is left behind. Default: 1,000. */
  graceMs?: number;
}
