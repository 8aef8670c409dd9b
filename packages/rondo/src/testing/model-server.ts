// A model server for tests: real HTTP and real server-sent events on loopback, with faults on demand.

import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { checkOptions } from "../error/check.ts";
import { Arrivals } from "./arrivals.ts";
import { Exchange, type ServerRequest } from "./exchange.ts";
import { countedUsage, type PromptCount, PromptCounter } from "./prompt-counter.ts";
import { Script, type Step } from "./script.ts";
import { type ServerAnswer, serverAnswerFields } from "./server-answer.ts";

/** An answer, a function that makes it from the request, or just its text. */
export type ServerStep = Step<ServerAnswer, ServerRequest>;

export interface ModelServerOptions {
  /** What `GET /v1/models` lists. Default: `["test-model"]`. */
  models?: readonly string[];
  /** Answers for other paths, such as `"GET /props"`, given any number of times. Default: none. */
  routes?: Readonly<Record<string, ServerStep>>;
  /**
   * Whether answers without a `usage` get one, counted as llama-server does: `prompt_tokens`, and those of them that
   * an earlier prompt begins with as `cached_tokens`. Default: false.
   */
  countsPrompts?: boolean;
}

/**
 * Starts a server on a free port of 127.0.0.1 that gives the answers of `script` in order, one for each
 * `POST /v1/chat/completions`. A single answer, not in a list, is given every time.
 *
 * ```ts
 * await using server = await startModelServer([{ status: 503 }, { text: ["Hel", "lo"], splitBytes: 3 }]);
 * const model = openaiCompatible({ baseURL: server.url, model: "test-model" });
 * ```
 *
 * Leaving the `await using` block closes all sockets. It then throws a `ScriptError` if answers are left, or if
 * the server got more requests, to which it replies with status 400.
 */
export async function startModelServer(
  script: ServerStep | readonly ServerStep[],
  options: ModelServerOptions = {},
): Promise<ModelServer> {
  const server = new ModelServer(script, options);
  await server.listen();
  return server;
}

export class ModelServer implements AsyncDisposable {
  readonly #server: Server;
  readonly #script: Script<ServerAnswer, ServerRequest>;
  readonly #routes: ReadonlyMap<string, Script<ServerAnswer, ServerRequest>>;
  readonly #requests = new Arrivals<ServerRequest>();
  readonly #serving = new Set<Promise<void>>();
  readonly #counter: PromptCounter | undefined;
  readonly #promptCounts: PromptCount[] = [];
  #url = "";
  #connectionCount = 0;
  #callCount = 0;

  /** @internal Use `startModelServer()`. */
  constructor(script: ServerStep | readonly ServerStep[], options: ModelServerOptions) {
    checkOptions("options", options, ["models", "routes", "countsPrompts"]);
    const { models = ["test-model"], routes = {} } = options;
    if (options.countsPrompts) this.#counter = new PromptCounter();
    const owner = "The model server";
    this.#script = new Script({ owner, steps: script, known: serverAnswerFields });
    this.#routes = new Map(
      Object.entries<ServerStep>({ "GET /v1/models": { body: listOf(models) }, ...routes }).map(
        ([route, steps]) => [route, new Script({ owner, steps, known: serverAnswerFields })],
      ),
    );
    this.#server = createServer((request, response) => {
      const serving = this.#serve(request, response).finally(() => this.#serving.delete(serving));
      this.#serving.add(serving);
    });
    this.#server.on("connection", () => this.#connectionCount++);
  }

  /** @internal */
  async listen(): Promise<void> {
    this.#server.listen(0, "127.0.0.1");
    await once(this.#server, "listening");
    this.#url = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/v1`;
  }

  /** The base URL for clients, with `/v1`. */
  get url(): string {
    return this.#url;
  }

  /** The chat requests so far. */
  get requests(): readonly ServerRequest[] {
    return this.#requests.list;
  }

  /** The chat request at `index`, counted from 0, as soon as it arrives. */
  request(index: number): Promise<ServerRequest> {
    return this.#requests.at(index);
  }

  /** The tokens of the chat requests so far, with `countsPrompts`. */
  get promptCounts(): readonly PromptCount[] {
    return this.#promptCounts;
  }

  /** How many connections were opened: fewer than requests, if the client keeps them alive. */
  get connectionCount(): number {
    return this.#connectionCount;
  }

  /** Throws unless the requests match the script. */
  assertUsedUp(): void {
    this.#script.assertUsedUp();
    for (const route of this.#routes.values()) route.assertUsedUp();
  }

  /** Closes the server and all its sockets at once. Does not check the script. */
  async close(): Promise<void> {
    if (!this.#server.listening) return;
    this.#server.close();
    this.#server.closeAllConnections();
    await once(this.#server, "close");
    await Promise.all(this.#serving);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
    this.assertUsedUp();
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    // A client that disconnects while it sends has not made a request.
    const body = await text(request).catch(() => undefined);
    if (body === undefined) return;
    const exchange = new Exchange(request, response, body);
    const route = `${exchange.method} ${exchange.path.split("?", 1)[0]}`;
    const isChat = route === "POST /v1/chat/completions";
    const script = isChat ? this.#script : this.#routes.get(route);
    if (isChat) this.#requests.add(exchange);
    const count = isChat ? this.#counter?.count(exchange.body) : undefined;
    if (count) this.#promptCounts.push(count);
    try {
      if (!script) throw new Error(`The test server has nothing at ${route}: add it to its routes.`);
      const next = script.next(exchange, () => `${route} with ${body.slice(0, 200)}`);
      const answer = await Promise.race([next, exchange.closed]);
      if (!answer) return;
      const usage = answer.usage ?? (count && countedUsage(count, JSON.stringify(answer)));
      await exchange.send(usage ? { ...answer, usage } : answer, {
        model: modelOf(exchange),
        nextId: () => `call_${++this.#callCount}`,
        isWhole: isChat && !wantsStream(exchange),
      });
    } catch (error) {
      await exchange.fail(script ? 400 : 404, String(error));
    }
  }
}

function wantsStream({ body }: ServerRequest): boolean {
  return body?.stream === true;
}

function modelOf({ body }: ServerRequest): string {
  return typeof body?.model === "string" ? body.model : "test-model";
}

function listOf(models: readonly string[]): unknown {
  return {
    object: "list",
    data: models.map((id) => ({ id, object: "model", created: 0, owned_by: "test" })),
  };
}
