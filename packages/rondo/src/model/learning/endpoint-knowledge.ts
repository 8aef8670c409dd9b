// What is known about each endpoint: which server it is, and the windows of its models. Learned once, when a request
// needs it, and shared by all models of the endpoint.

import type { Endpoint } from "../endpoint.ts";
import type { HttpSend } from "../http/http.ts";
import { identifyServer, type ServerIdentity, type ServerName, serverInHeader } from "./identify-server.ts";
import { learnWindow } from "./learn-window.ts";
import { probeOf } from "./probe.ts";

/** How long a server may take to tell what it is. A request waits for that at most. */
const learningMs = 2000;
/** After that a server may be another one. */
const maxAgeMs = 300_000;
/** A server that did not answer, or a window that it did not tell, is asked for again after this. */
const retryMs = 5000;
const maxEndpoints = 1000;
const maxModels = 1000;

interface Entry<T> {
  /** Undefined while it is being learned. */
  value?: T;
  readonly learning: Promise<T>;
  expiresAtMs: number;
}

export class EndpointKnowledge {
  readonly #endpoint: Endpoint;
  readonly #send: HttpSend;
  #identity: Entry<ServerIdentity | undefined> | undefined;
  readonly #windows = new Map<string, Entry<number | undefined>>();

  constructor(endpoint: Endpoint, send: HttpSend) {
    this.#endpoint = endpoint;
    this.#send = send;
  }

  /** Which server it is, as far as that is known now. */
  get identity(): ServerIdentity | undefined {
    return this.#identity?.value;
  }

  /** Whether asking the server now would tell nothing new. */
  get isIdentified(): boolean {
    return isFresh(this.#identity) && this.#identity?.value !== undefined;
  }

  /** The window of a model, as far as that is known now. */
  windowOf(model: string): number | undefined {
    return this.#windows.get(model)?.value;
  }

  /** Takes the header `Server` of any reply. */
  noteHeader(header: string | undefined): void {
    const found = serverInHeader(header);
    if (found && this.#identity?.value?.server !== found.server) this.#identity = settled(found);
  }

  /** Takes a window that the server named in an error. */
  noteWindow(model: string, tokens: number): void {
    this.#keepWindow(model, settled(tokens));
  }

  /** Forgets all: the server went away, and may come back as another. */
  forget(): void {
    this.#identity = undefined;
    this.#windows.clear();
  }

  /** Which server it is. Never rejects. */
  identify(): Promise<ServerIdentity | undefined> {
    if (!isFresh(this.#identity))
      this.#identity = learning(async () => {
        const found = await identifyServer(this.#probe());
        return { value: found === "unknown" ? undefined : found, isFinal: found !== undefined };
      });
    return (this.#identity as Entry<ServerIdentity | undefined>).learning;
  }

  /** The window of a model, if the server tells. `server` is known to the caller, or learned. Never rejects. */
  learnWindow(model: string, server?: ServerName): Promise<number | undefined> {
    const known = this.#windows.get(model);
    if (known && isFresh(known)) return known.learning;
    const entry = learning(async () => {
      const name = server ?? (await this.identify())?.server;
      const value = await learnWindow(this.#probe(), name, model);
      return { value, isFinal: value !== undefined };
    });
    this.#keepWindow(model, entry);
    return entry.learning;
  }

  #keepWindow(model: string, entry: Entry<number | undefined>): void {
    if (this.#windows.size >= maxModels) this.#windows.clear();
    this.#windows.set(model, entry);
  }

  #probe() {
    return probeOf(this.#endpoint, this.#send, AbortSignal.timeout(learningMs));
  }
}

function settled<T>(value: T): Entry<T> {
  return { value, learning: Promise.resolve(value), expiresAtMs: performance.now() + maxAgeMs };
}

function learning<T>(learn: () => Promise<{ value: T; isFinal: boolean }>): Entry<T> {
  const entry: Entry<T> = {
    learning: learn().then(({ value, isFinal }) => {
      entry.value = value;
      entry.expiresAtMs = performance.now() + (isFinal ? maxAgeMs : retryMs);
      return value;
    }),
    expiresAtMs: Number.POSITIVE_INFINITY,
  };
  return entry;
}

function isFresh(entry: Entry<unknown> | undefined): boolean {
  return entry !== undefined && performance.now() < entry.expiresAtMs;
}

const bySend = new WeakMap<HttpSend, Map<string, EndpointKnowledge>>();

/** What is known about an endpoint. Other keys may see other models there. */
export function knowledgeOf(endpoint: Endpoint, send: HttpSend): EndpointKnowledge {
  const byEndpoint = bySend.get(send) ?? new Map<string, EndpointKnowledge>();
  bySend.set(send, byEndpoint);
  const key = JSON.stringify([endpoint.label, endpoint.headers]);
  const known = byEndpoint.get(key) ?? new EndpointKnowledge(endpoint, send);
  if (byEndpoint.size >= maxEndpoints) byEndpoint.clear();
  byEndpoint.set(key, known);
  return known;
}
