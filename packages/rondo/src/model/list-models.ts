// Lists the models of a server.

import { send } from "#http";
import { checkOptions, checkSignal, isPlainObject } from "../error/check.ts";
import { ModelConnectionError, UnexpectedAnswerError } from "../error/model-errors.ts";
import { askServer } from "./ask-server.ts";
import { Endpoint, type EndpointOptions } from "./endpoint.ts";
import { excerpt, isWebPage } from "./error-message.ts";
import { readText } from "./http/http.ts";
import { type FetchFunction, sendBy } from "./http/send-by.ts";
import { parseJson } from "./parse-json.ts";

export interface ListModelsOptions extends EndpointOptions {
  signal?: AbortSignal | undefined;
  /** Replaces the runtime's own HTTP. Default: none. */
  fetch?: FetchFunction | undefined;
}

const maxListBytes = 8 * 1024 * 1024;
const maxModels = 10_000;
/** Longer strings are not names, and would be passed on to clients that list models. */
const maxNameLength = 256;

/**
 * The names of the models that the server at `baseURL` has, in its order. Asks once, without a time limit. A list of
 * more than 8 MiB is an error; names of more than 256 characters, and what follows the first 10,000, are left out.
 */
export async function listModels(options: ListModelsOptions): Promise<string[]> {
  checkOptions("options", options, ["baseURL", "apiKey", "headers", "signal", "fetch"]);
  const { fetch, signal = new AbortController().signal } = options;
  checkSignal("signal", signal);
  const endpoint = new Endpoint(options);
  const response = await askServer({ endpoint, path: "/models", send: fetch ? sendBy(fetch) : send, signal });
  const unexpected = (got: string, received: string): never => {
    throw new UnexpectedAnswerError(endpoint.label, { expected: "a list of models", got, received });
  };
  const text = await readText(response, maxListBytes, () =>
    unexpected(`more than ${maxListBytes} bytes`, ""),
  ).catch((error: unknown) => {
    if (error instanceof UnexpectedAnswerError) throw error;
    throw signal.aborted ? signal.reason : new ModelConnectionError(endpoint.label, error);
  });
  return namesIn(text) ?? unexpected(isWebPage(text) ? "a web page" : "something else", excerpt(text));
}

/** Servers agree on `data[].id`; a few have `models`, a bare list, or `name`. */
function namesIn(text: string): string[] | undefined {
  const answer = parseJson(text);
  if (isPlainObject(answer) && answer["data"] === null) return []; // a server without models
  const list: unknown = isPlainObject(answer) ? (answer["data"] ?? answer["models"]) : answer;
  if (!Array.isArray(list)) return undefined;
  return list
    .slice(0, maxModels)
    .map(nameOf)
    .filter((name) => name !== undefined);
}

function nameOf(entry: unknown): string | undefined {
  const name: unknown = isPlainObject(entry) ? (entry["id"] ?? entry["name"] ?? entry["model"]) : entry;
  return typeof name === "string" && name.length <= maxNameLength ? name : undefined;
}
