// What an endpoint tells about itself, for programs that want to know before they ask a model.

import { send } from "#http";
import { untilAborted } from "../../async/until-aborted.ts";
import { checkOptions, checkSignal, checkString } from "../../error/check.ts";
import { Endpoint, type EndpointOptions } from "../endpoint.ts";
import { type FetchFunction, sendBy } from "../http/send-by.ts";
import { knowledgeOf } from "./endpoint-knowledge.ts";
import type { ServerName } from "./identify-server.ts";

/** What a server tells about itself and a model. */
export interface EndpointFacts {
  /** Which program it is; undefined if it does not tell, or does not answer. */
  readonly server: ServerName | undefined;
  /** What gave it away, in words: `its header 'Server: llama.cpp'`. */
  readonly evidence: string | undefined;
  /** How many tokens the model can read and write there; undefined if the server does not tell. */
  readonly contextWindow: number | undefined;
}

export interface LearnEndpointOptions extends EndpointOptions {
  /** The model whose window is learned. Default: none. */
  model?: string | undefined;
  signal?: AbortSignal | undefined;
  /** Replaces the runtime's own HTTP. Default: none. */
  fetch?: FetchFunction | undefined;
}

/**
 * Asks a server what it is, and for the context window of a model. It has 2 seconds for each, and is asked once:
 * the facts are kept for 5 minutes, and shared with the models of this endpoint. A server that does not answer is not
 * an error: nothing is known about it then.
 */
export async function learnEndpoint(options: LearnEndpointOptions): Promise<EndpointFacts> {
  checkOptions("options", options, ["baseURL", "apiKey", "headers", "model", "signal", "fetch"]);
  const { model, fetch } = options;
  const signal = checkSignal("signal", options.signal);
  if (model !== undefined) checkString("model", model);
  const knowledge = knowledgeOf(new Endpoint(options), fetch ? sendBy(fetch) : send);
  const learning = Promise.all([
    knowledge.identify(),
    model === undefined ? undefined : knowledge.learnWindow(model),
  ]);
  const [identity, contextWindow] = await (signal ? untilAborted(learning, signal) : learning);
  return { server: identity?.server, evidence: identity?.evidence, contextWindow };
}
