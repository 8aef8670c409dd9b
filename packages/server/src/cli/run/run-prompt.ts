// Asks a model a prompt, like a chat with a single question.

import type { Environment } from "../../config/overrides.ts";
import type { ChatPartner } from "../chat/chat-partner.ts";
import { type FindPartnerOptions, findPartner, type PartnerWishes } from "../chat/find-partner.ts";
import { ModelPartner } from "../chat/model-partner.ts";
import { isModel, type Prompt } from "./prompt.ts";
import type { Emit, Ending } from "./run-event.ts";

export interface RunPromptOptions {
  readonly prompt: Prompt;
  readonly wishes: PartnerWishes;
  readonly env: Environment;
  readonly signal: AbortSignal;
  readonly emit: Emit;
  readonly discover?: FindPartnerOptions["discover"];
}

export async function runPrompt(options: RunPromptOptions): Promise<Ending> {
  const { prompt, signal, emit } = options;
  await using partner = await partnerFor(options);
  let ending: Ending = { reason: "completed", usage: undefined };
  for await (const event of partner.ask(prompt.prompt, signal)) {
    if (event.type === "end") ending = event;
    else emit(event);
  }
  return ending;
}

/** The model of the file, unless flags name another one. */
async function partnerFor(options: RunPromptOptions): Promise<ChatPartner> {
  const { prompt, wishes, env, signal, emit, discover } = options;
  const { model, system: systemPrompt, tools } = prompt;
  const isNamed = [wishes.model, wishes.modelUrl, wishes.server].some((wish) => wish !== undefined);
  if (isModel(model) && !isNamed) {
    const source = { list: async () => [model.name], open: async () => model };
    return new ModelPartner({ source, model, tools, systemPrompt });
  }
  const { partner, notice } = await findPartner({
    wishes: {
      ...wishes,
      model: wishes.model ?? (typeof model === "string" ? model : undefined),
      system: systemPrompt,
    },
    tools,
    env,
    signal,
    ...(discover && { discover }),
  });
  if (notice !== undefined) emit({ type: "notice", text: notice });
  return partner;
}
