// A model server's address, checked once: for requests, for messages and as a key.

import { InvalidArgumentError, InvalidTypeError } from "../error/argument-errors.ts";
import { checkPlainObject, checkString } from "../error/check.ts";
import { environment } from "./environment.ts";
import { withoutSecrets } from "./secret-filter.ts";

export interface EndpointOptions {
  /** Where the API is: `http://localhost:11434/v1`. Default: the environment's `RONDO_BASE_URL`. */
  baseURL?: string | undefined;
  /** Sent as a bearer token. Default: none, which local servers accept. */
  apiKey?: string | undefined;
  /** More headers; they override those of this library. Default: none. */
  headers?: Readonly<Record<string, string>> | undefined;
}

// Shorter header values are not secrets, and may be words that a message needs.
const shortestSecret = 6;

export class Endpoint {
  /** The address without secrets: no user, password or query. */
  readonly label: string;
  /** The headers of every request. */
  readonly headers: Readonly<Record<string, string>>;
  readonly #base: URL;
  readonly #urls = new Map<string, URL>();
  readonly #headersOf = new WeakMap<object, Readonly<Record<string, string>>>();

  constructor({ baseURL = environment("RONDO_BASE_URL"), apiKey, headers = {} }: EndpointOptions) {
    const url = checkBaseUrl(baseURL);
    const { username, password } = url;
    url.username = "";
    url.password = "";
    url.hash = "";
    // The whole address of the API is a common slip, and unambiguous.
    url.pathname = url.pathname.replace(/\/+(chat\/completions\/*)?$/, "");
    this.#base = url;
    this.label = `${url.origin}${url.pathname === "/" ? "" : url.pathname}`;
    this.headers = {
      ...(username === "" ? {} : { authorization: basic(username, password) }),
      ...(apiKey === undefined ? {} : { authorization: `Bearer ${checkKey(apiKey)}` }),
      ...checkHeaders(headers),
    };
  }

  /** The headers of a kind of request: `common` and its own. The same object each time: who sends it has to check it once. */
  headersWith(common: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
    const known = this.#headersOf.get(common);
    if (known) return known;
    const headers = Object.freeze({ ...common, ...this.headers });
    this.#headersOf.set(common, headers);
    return headers;
  }

  /** Removes the values of our headers from a server's message: some servers quote the key that they refuse. */
  readonly hideSecrets = (text: string): string => withoutSecrets(text, this.secrets);

  /** What our headers have that nobody may read. */
  get secrets(): string[] {
    return Object.values(this.headers)
      .flatMap((value) => [value, value.slice(value.indexOf(" ") + 1)])
      .filter((secret) => secret.length >= shortestSecret);
  }

  /** The address of a resource of the server's own API, beside the OpenAI-compatible one: `/props`. */
  ownUrl(path: string): URL {
    const url = new URL(this.#base);
    url.pathname = `${url.pathname.replace(/\/(?:v1\/?)?$/, "")}${path}`;
    return url;
  }

  /** The address of a resource: `/models`. */
  url(path: string): URL {
    const known = this.#urls.get(path);
    if (known) return known;
    const url = new URL(this.#base);
    url.pathname = `${url.pathname === "/" ? "" : url.pathname}${path}`;
    this.#urls.set(path, url);
    return url;
  }
}

function checkBaseUrl(value: unknown): URL {
  const field = "baseURL";
  const expected = "an http or https URL, such as http://localhost:11434/v1";
  if (value === undefined)
    throw new InvalidArgumentError({
      field,
      expected,
      received: value,
      hint: "Pass baseURL, set RONDO_BASE_URL, or use a preset such as ollama().",
    });
  if (typeof value !== "string") throw new InvalidTypeError({ field, expected, received: value });
  const url = URL.parse(value);
  if (!url || !/^https?:$/.test(url.protocol))
    throw new InvalidArgumentError({ field, expected, received: value });
  return url;
}

function checkKey(apiKey: unknown): string {
  const key = checkString("apiKey", apiKey).trim();
  // The key itself must not end up in a log.
  if (!/^[\x21-\x7e]+$/.test(key))
    throw new InvalidArgumentError({
      field: "apiKey",
      expected: "letters, digits and signs of ASCII, without spaces",
      received: "(hidden)",
    });
  return key;
}

function checkHeaders(headers: unknown): Record<string, string> {
  const checked: Record<string, string> = {};
  for (const [name, value] of Object.entries(checkPlainObject("headers", headers))) {
    const field = `headers.${name}`;
    if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name))
      throw new InvalidArgumentError({ field, expected: "the name of an HTTP header", received: name });
    if (typeof value !== "string")
      throw new InvalidTypeError({ field, expected: "a string", received: value });
    if (!/^[\t\x20-\x7e\x80-\xff]*$/.test(value))
      throw new InvalidArgumentError({ field, expected: "text without line breaks", received: "(hidden)" });
    checked[name.toLowerCase()] = value;
  }
  return checked;
}

function basic(username: string, password: string): string {
  const bytes = new TextEncoder().encode(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`);
  return `Basic ${btoa(String.fromCharCode(...bytes))}`;
}
