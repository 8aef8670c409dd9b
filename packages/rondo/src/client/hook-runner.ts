// Calls a client's hooks, with a copy of the history as it is at that moment.

import { checkBoolean, checkOptions, checkString } from "../error/check.ts";
import type { PendingCall } from "../loop/options.ts";
import type { ContentPart, Message } from "../model/message.ts";
import { PromptBlockedError } from "./client-errors.ts";
import type { ClientHookHandler, ClientHooks, HookDecision, PostToolUseEvent } from "./client-hooks.ts";

export class HookRunner {
  readonly #hooks: ClientHooks;
  readonly #history: () => Message[];

  constructor(hooks: ClientHooks, history: () => Message[]) {
    this.#hooks = hooks;
    this.#history = history;
  }

  /** The prompt that is sent in the end; throws if a hook blocks it. Only text is shown to hooks. */
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

  /** All handlers look on, whatever they return. Gives `undefined` where there are none. */
  afterCall(call: Omit<PostToolUseEvent, "history">): Promise<void> | undefined {
    const handlers = this.#hooks.post_tool_use ?? [];
    return handlers.length === 0 ? undefined : this.#lookOn(handlers, call);
  }

  async #lookOn(
    handlers: readonly ClientHookHandler<PostToolUseEvent>[],
    call: Omit<PostToolUseEvent, "history">,
  ): Promise<void> {
    for (const handler of handlers) await handler({ ...call, history: this.#history() });
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
