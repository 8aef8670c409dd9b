// Asks a model a prompt, like a chat with a single question.

import type { Environment } from "../../config/overrides.ts";
import { ChatConversation } from "../chat/conversation.ts";
import { explainModelError } from "../chat/explain-error.ts";
import { type ModelFlags, type OpenOptions, openConversation } from "../chat/open-conversation.ts";
import { isModel, type Prompt } from "./prompt.ts";
import type { Emit, Ending } from "./run-event.ts";

export interface RunPromptOptions {
  readonly prompt: Prompt;
  readonly wishes: ModelFlags;
  readonly env: Environment;
  readonly signal: AbortSignal;
  readonly emit: Emit;
  readonly discover?: OpenOptions["discover"];
}

export async function runPrompt(options: RunPromptOptions): Promise<Ending> {
  const { prompt, signal, emit } = options;
  await using conversation = await conversationFor(options);
  let ending: Ending = { reason: "completed", usage: undefined };
  for await (const event of conversation.ask(prompt.prompt, signal)) {
    if (event.type === "end") ending = event;
    else emit(event);
  }
  return ending;
}

/** The model of the file, unless flags name another one. */
async function conversationFor(options: RunPromptOptions): Promise<ChatConversation> {
  const { prompt, wishes, env, signal, emit, discover } = options;
  const { model, system: systemPrompt, tools } = prompt;
  const isNamed = [wishes.model, wishes.modelUrl, wishes.server].some((wish) => wish !== undefined);
  if (isModel(model) && !isNamed) {
    const list = async () => [model.name];
    const explain = (error: unknown) => explainModelError(error, list);
    const source = { list, open: async () => model, explain };
    return new ChatConversation({ source, model, tools, systemPrompt });
  }
  const { conversation, notice } = await openConversation({
    flags: {
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
  return conversation;
}
