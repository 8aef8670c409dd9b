// The hooks of a client: they can block or change prompts and tool calls.

import { functionKind } from "../async/async-function.ts";
import { InvalidArgumentError, InvalidTypeError } from "../error/argument-errors.ts";
import { checkPlainObject } from "../error/check.ts";
import type { Message } from "../model/message.ts";

/** The names of the hooks. */
export const HOOK_PRE_TOOL_USE = "pre_tool_use";
export const HOOK_POST_TOOL_USE = "post_tool_use";
export const HOOK_USER_PROMPT_SUBMIT = "user_prompt_submit";

/** The decision of a hook. No decision means continue. An error ends the run. */
export interface HookDecision {
  /** `false` blocks. Default: true. */
  continue?: boolean;
  /** Replaces the input of the tool. */
  modifiedInput?: Record<string, unknown>;
  /** Replaces the prompt, also in history. */
  modifiedPrompt?: string;
  /** The reason of a blocked call is reported to the model. */
  reason?: string;
}

export interface PreToolUseEvent {
  toolName: string;
  toolInput: Record<string, unknown>;
  toolUseId: string;
  /** A copy. */
  history: Message[];
}

export interface PostToolUseEvent extends PreToolUseEvent {
  /** The result of the tool, or `{ error, tool }`. `history` includes it. */
  toolResult: unknown;
}

export interface UserPromptSubmitEvent {
  prompt: string;
  history: Message[];
}

// biome-ignore lint/suspicious/noConfusingVoidType: a handler may return nothing
type MaybeDecision = HookDecision | undefined | null | void;

/** A handler, async or not. */
export type ClientHookHandler<E> = (event: E) => MaybeDecision | Promise<MaybeDecision>;

/** Handlers by hook. They run in order, until one decides. */
export interface ClientHooks {
  pre_tool_use?: readonly ClientHookHandler<PreToolUseEvent>[];
  /** Observes results: all handlers run, and their return values are ignored. */
  post_tool_use?: readonly ClientHookHandler<PostToolUseEvent>[];
  user_prompt_submit?: readonly ClientHookHandler<UserPromptSubmitEvent>[];
}

const hookNames = [HOOK_PRE_TOOL_USE, HOOK_POST_TOOL_USE, HOOK_USER_PROMPT_SUBMIT];

export function checkClientHooks(hooks: unknown): ClientHooks {
  if (hooks === undefined) return {};
  const given = checkPlainObject("hooks", hooks);
  for (const [name, handlers] of Object.entries(given)) {
    if (!hookNames.includes(name))
      throw new InvalidArgumentError({
        field: "hooks",
        expected: `one of ${hookNames.join(", ")}`,
        received: name,
      });
    if (!Array.isArray(handlers))
      throw new InvalidTypeError({
        field: `hooks.${name}`,
        expected: "a list of functions",
        received: handlers,
      });
    for (const [index, handler] of handlers.entries())
      if (functionKind(handler) === undefined)
        throw new InvalidTypeError({
          field: `hooks.${name}[${index}]`,
          expected: "a function",
          received: handler,
        });
  }
  return given;
}
