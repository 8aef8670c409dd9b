// Calls the hooks of a client, each with a copy of the current history.

import { untilAborted } from "../async/until-aborted.ts";
import { checkBoolean, checkOptions, checkString } from "../error/check.ts";
import type { ReadyCall } from "../loop/events.ts";
import type { PendingCall } from "../loop/options.ts";
import type { ContentPart, Message } from "../model/message.ts";
import { PromptBlockedError } from "./client-errors.ts";
import type { ClientHookHandler, ClientHooks, HookDecision } from "./client-hooks.ts";

/** A call with its result. */
interface AnsweredCall extends ReadyCall {
  readonly result: unknown;
}

export class HookRunner {
  readonly #hooks: ClientHooks;
  readonly #history: () => Message[];

  constructor(hooks: ClientHooks, history: () => Message[]) {
    this.#hooks = hooks;
    this.#history = history;
  }

  /** The prompt to send; throws if a hook blocks it. Hooks see only prompts that are text. */
  async submit(prompt: string | ContentPart[]): Promise<string | ContentPart[]> {
    if (typeof prompt !== "string") return prompt;
    const decision = await decide(this.#hooks.user_prompt_submit, () => ({
      prompt,
      history: this.#history(),
    }));
    if (decision) checkPromptDecision(decision);
    if (decision?.continue === false) throw new PromptBlockedError(decision.reason ?? "no reason was given");
    return decision?.modifiedPrompt ?? prompt;
  }

  async beforeCall({ id, name, input }: PendingCall): Promise<HookDecision | undefined> {
    const event = () => ({ toolName: name, toolInput: input, toolUseId: id, history: this.#history() });
    return decide(this.#hooks.pre_tool_use, event);
  }

  get hasAfterCall(): boolean {
    return (this.#hooks.post_tool_use?.length ?? 0) > 0;
  }

  /** Calls all handlers with a result; what they return is ignored. They are not waited for once `left` is aborted. */
  async afterCall({ id, name, input, result }: AnsweredCall, left?: AbortSignal): Promise<void> {
    const event = { toolName: name, toolInput: input, toolUseId: id, toolResult: result };
    for (const handler of this.#hooks.post_tool_use ?? []) {
      const handled = Promise.resolve(handler({ ...event, history: this.#history() }));
      await (left ? untilAborted(handled, left) : handled).catch((error: unknown) => {
        if (!left?.aborted) throw error;
      });
      if (left?.aborted) return;
    }
  }
}

function checkPromptDecision(decision: HookDecision): void {
  checkOptions("decision", decision, ["continue", "modifiedInput", "modifiedPrompt", "reason"]);
  if (decision.continue !== undefined) checkBoolean("decision.continue", decision.continue);
  if (decision.modifiedPrompt !== undefined && decision.modifiedPrompt !== null)
    checkString("decision.modifiedPrompt", decision.modifiedPrompt);
}

/** Runs handlers in order until one decides. */
async function decide<E>(
  handlers: readonly ClientHookHandler<E>[] | undefined,
  event: () => E,
): Promise<HookDecision | undefined> {
  for (const handler of handlers ?? []) {
    const decision = await handler(event());
    if (decision) return decision;
  }
  return undefined;
}
