// Which models a server has.

import { send } from "#http";
import { checkOptions, checkSignal, isPlainObject } from "../error/check.ts";
import { ModelConnectionError, UnexpectedAnswerError } from "../error/model-errors.ts";
import { askServer } from "./ask-server.ts";
import { Endpoint, type EndpointOptions } from "./endpoint.ts";
import { readText } from "./http/http.ts";
import { type FetchFunction, sendBy } from "./http/http-fetch.ts";
import { excerpt } from "./said.ts";

export interface ListModelsOptions extends EndpointOptions {
  signal?: AbortSignal | undefined;
  /** Used instead of the runtime's own HTTP. */
  fetch?: FetchFunction | undefined;
}

/** The names of the models that the server at `baseURL` has, in its order. Asks once, without a time limit. */
export async function listModels(options: ListModelsOptions): Promise<string[]> {
  checkOptions("options", options, ["baseURL", "apiKey", "headers", "signal", "fetch"]);
  const { fetch, signal = new AbortController().signal } = options;
  checkSignal("signal", signal);
  const endpoint = new Endpoint(options);
  const response = await askServer({ endpoint, path: "/models", send: fetch ? sendBy(fetch) : send, signal });
  const text = await readText(response).catch((error: unknown) => {
    throw signal.aborted ? signal.reason : new ModelConnectionError(endpoint.label, error);
  });
  const names = namesIn(text);
  if (names) return names;
  throw new UnexpectedAnswerError(endpoint.label, {
    expected: "a list of models",
    got: /^\s*</.test(text) ? "a web page" : "something else",
    received: excerpt(text),
  });
}

/** Servers agree on `data[].id`; a few have `models`, a bare list, or `name`. */
function namesIn(text: string): string[] | undefined {
  let answer: unknown;
  try {
    answer = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (isPlainObject(answer) && answer["data"] === null) return []; // as a server with none says
  const list: unknown = isPlainObject(answer) ? (answer["data"] ?? answer["models"]) : answer;
  if (!Array.isArray(list)) return undefined;
  return list.map(nameOf).filter((name) => name !== undefined);
}

function nameOf(entry: unknown): string | undefined {
  const name: unknown = isPlainObject(entry) ? (entry["id"] ?? entry["name"] ?? entry["model"]) : entry;
  return typeof name === "string" ? name : undefined;
}
