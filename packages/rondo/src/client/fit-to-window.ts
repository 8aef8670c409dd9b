// A model whose requests are cut to its context window.

import { ContextLengthError } from "../error/context-length-error.ts";
import { estimateTokens } from "../model/estimate-tokens.ts";
import type { Message } from "../model/message.ts";
import type { ModelDelta, ModelProvider, ModelRequest } from "../model/provider.ts";
import { RestartableStream, type StartStream } from "../model/restartable-stream.ts";
import { guessTokens } from "../model/text-tokens.ts";
import { ContextBudgetError, truncateToBudget } from "./truncate-to-budget.ts";

/** Tokens that are kept for an answer whose length is not limited. */
const defaultAnswerTokens = 1024;
/** How often a request is cut again when its server still says no. */
const maxCuts = 3;
/** How much of the room is used after a cut, so that not each round cuts again: that would cost the prompt cache. */
const fillAfterCut = 0.7;

/**
 * The same model, but of a conversation that is longer than its window it reads only the newest part: the oldest turns
 * are left out, as `truncateToBudget()` does, and stay left out in later requests. The window is the profile's, or what
 * the server tells. If it still refuses the request, that is cut again by the server's own count, up to 3 times.
 *
 * Use one for each conversation: it remembers what it left out.
 */
export function fitToWindow(model: ModelProvider): ModelProvider {
  const cutter = new Cutter();
  return {
    name: model.name,
    endpoint: model.endpoint,
    get profile() {
      return model.profile;
    },
    learn: async (options) => (await model.learn?.(options)) ?? model.profile,
    stream: (request) => new RestartableStream(cutter.starter(model, request)),
  };
}

class Cutter {
  readonly #dropped = new WeakSet<Message>();
  /** The server's tokens for one estimated token, as far as it told. */
  #ratio = 1;

  starter(model: ModelProvider, request: ModelRequest): StartStream {
    let sent = request;
    let cuts = 0;
    return async (failure) => {
      if (!failure) {
        const { signal } = request;
        const { contextWindow } = (await model.learn?.({ window: true, signal })) ?? model.profile;
        sent = this.#fit(request, contextWindow);
        return { stream: streamSent(model, sent) };
      }
      cuts += 1;
      if (!(failure.error instanceof ContextLengthError) || cuts > maxCuts) return undefined;
      const count = sent.messages.length;
      sent = this.#cutAgain(sent, failure.error, 1 - cuts / 10);
      if (sent.messages.length === count) return undefined;
      const warning = `The conversation was cut to its newest ${sent.messages.length} messages, because the model server refused it: ${failure.error.said}`;
      return { stream: streamSent(model, sent, failure), warning };
    };
  }

  /** Leaves out what was left out before, and more if the rest does not fit. */
  #fit(request: ModelRequest, window: number | undefined): ModelRequest {
    const messages = request.messages.filter((message) => !this.#dropped.has(message));
    if (window === undefined) return { ...request, messages };
    const fitting = withAnswerLimit({ ...request, messages }, window);
    const room = roomIn(window, fitting);
    if (this.#tokensOf(fitting) <= room) return fitting;
    return this.#cut(fitting, room * fillAfterCut) ?? this.#cut(fitting, room) ?? fitting;
  }

  #cutAgain(
    request: ModelRequest,
    { contextWindow, promptTokens }: ContextLengthError,
    fill: number,
  ): ModelRequest {
    if (promptTokens !== undefined) this.#ratio *= promptTokens / this.#tokensOf(request);
    const tokens = this.#tokensOf(request);
    if (contextWindow === undefined) return this.#cut(request, tokens * fillAfterCut) ?? request;
    const fitting = withAnswerLimit(request, contextWindow);
    const room = roomIn(contextWindow, fitting) * fill;
    return this.#cut(fitting, Math.min(room, tokens * 0.9)) ?? request;
  }

  /** Undefined if what must stay does not fit. */
  #cut(request: ModelRequest, tokens: number): ModelRequest | undefined {
    const maxTokens = Math.floor(tokens / this.#ratio - toolTokens(request));
    if (maxTokens < 1) return undefined;
    try {
      const messages = truncateToBudget(request.messages, { maxTokens, cutNewestTurn: true });
      const kept = new Set(messages);
      for (const message of request.messages) if (!kept.has(message)) this.#dropped.add(message);
      return { ...request, messages };
    } catch (error) {
      if (error instanceof ContextBudgetError) return undefined;
      throw error;
    }
  }

  #tokensOf(request: ModelRequest): number {
    return (estimateTokens(request.messages) + toolTokens(request)) * this.#ratio;
  }
}

/** Tells what is sent: whoever compares it with the server's count needs the prompt as the server got it. */
function streamSent(
  model: ModelProvider,
  sent: ModelRequest,
  failure?: { readonly error: unknown },
): AsyncIterable<ModelDelta> {
  sent.onSent?.(sent, model, failure);
  return model.stream(sent);
}

function toolTokens({ tools = [] }: ModelRequest): number {
  return tools.length === 0 ? 0 : guessTokens(JSON.stringify(tools));
}

/** The room for the prompt. */
function roomIn(window: number, { settings }: ModelRequest): number {
  return window - Math.min(settings?.maxTokens ?? defaultAnswerTokens, Math.floor(window / 2));
}

/** An answer gets at most half of a small window: some servers refuse a request whose answer might not fit. */
function withAnswerLimit(request: ModelRequest, window: number): ModelRequest {
  const { settings } = request;
  const max = Math.floor(window / 2);
  if (settings?.maxTokens === undefined || settings.maxTokens <= max) return request;
  return { ...request, settings: { ...settings, maxTokens: max } };
}
