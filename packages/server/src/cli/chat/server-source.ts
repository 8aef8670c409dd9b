// The models of a Rondo server, which keeps the conversation: each answer is a response that continues the last one. A
// server that keeps nothing gets the whole conversation each time.

import { type Message, type ModelProvider, responsesModel } from "rondo";
import { ModelHttpError } from "rondo/errors";
import { listModels, type ModelRequest } from "rondo/models";
import { chatModels } from "../../config/chat-models.ts";
import { toBaseUrl } from "../api-client.ts";
import { explainServerError, missingModel } from "./explain-error.ts";
import { hasModel, type ModelSource } from "./model-source.ts";

export interface ServerSourceOptions {
  readonly url: string;
  readonly apiKey?: string | undefined;
  /** Decides about calls that the server wants approved. Default: nobody does. */
  readonly approve?: ((signal: AbortSignal) => Promise<boolean>) | undefined;
}

export function serverSource({ url, apiKey, approve }: ServerSourceOptions): ModelSource {
  const baseURL = toBaseUrl(url);
  let usedModel: string | undefined;
  const connect = (continues?: { responseId: string; messages: readonly Message[] }) =>
    responsesModel(baseURL, {
      apiKey,
      store: true,
      retry: false,
      continues,
      approve: approve && ((_, signal) => approve(signal)),
      onResponse(response) {
        if (typeof response["model"] === "string") usedModel = response["model"];
        source.onResponse?.(response);
      },
    });
  let server = connect();
  const { endpoint, profile } = server;

  const list = async (signal?: AbortSignal) => {
    try {
      return await listModels({ baseURL, apiKey, signal });
    } catch (error) {
      throw explainServerError(error);
    }
  };

  /** All models are one provider, so that another model continues the same conversation. */
  const modelOf = (given: string | undefined): ModelProvider => {
    let model = given;
    const ask = ({ settings, ...request }: ModelRequest) =>
      server.stream({ ...request, settings: { ...settings, ...(model && { extraBody: { model } }) } });
    return {
      endpoint,
      profile,
      get name() {
        return model ?? usedModel ?? "the server's default model";
      },
      async *stream(request) {
        try {
          yield* ask(request);
          return;
        } catch (error) {
          if (!hasSaid(error, /names no model/)) throw error;
        }
        const names = await list(request.signal);
        model = chatModels(names)[0] ?? names[0];
        const message = `The server has several models; this is ${model}. /models shows the others.`;
        yield { type: "warning", message };
        yield* ask(request);
      },
    };
  };

  const source: ModelSource = {
    keepsResponses: true,
    list,
    async open(name, signal) {
      // Always listed, so that an unreachable server is reported before the first prompt.
      const names = await list(signal);
      if (name !== undefined && !hasModel(names, name)) throw missingModel(name, names, endpoint);
      return modelOf(name);
    },
    continueFrom(responseId, messages) {
      server = connect({ responseId, messages });
    },
    explain: async (error) => explainServerError(error),
  };
  return source;
}

/** Whether the server has rejected a request with these words. */
function hasSaid(error: unknown, words: RegExp): boolean {
  return error instanceof ModelHttpError && words.test(error.said);
}
