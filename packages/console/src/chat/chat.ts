// A chat: its tree of responses, the branch that is shown, and what a person can do with it.

import { batch, computed, effect, signal } from "@preact/signals";
import { get, isAbort, messageOf, post } from "../api/api.ts";
import { decisionKey } from "../api/decision-key.ts";
import type { ToolInfo } from "../api/inspect-types.ts";
import { type Item, isRunning, type ResponseObject } from "../api/response.ts";
import type { RunSummary } from "../api/types.ts";
import { Answer } from "./answer.ts";
import { create, follow } from "./follow.ts";
import { toRequest } from "./request.ts";
import { settings, settingsOf, showSettings } from "./settings.ts";
import { branchSource, consoleSource, type FullRun, loadInput, loadThread, readContents } from "./thread.ts";
import { newestLeaf, pathTo, type TreeNode } from "./tree.ts";

/** A request and its answer. */
export interface ChatNode extends TreeNode {
  /** Stays when the response gets its id. */
  readonly key: string;
  /** The first response of its chain, or its conversation; undefined for one that was sent from this page. */
  readonly thread?: string;
  /** Undefined until it is loaded. */
  readonly input: readonly Item[] | undefined;
  readonly answer: Answer;
}

export interface ChatServer {
  readonly isStored: boolean;
  readonly tools: readonly ToolInfo[];
}

/** A request that was sent, and how it is stopped. */
interface Sending {
  /** Stops waiting for an answer that nobody keeps. */
  readonly controller: AbortController;
  /** Whether a stored run has to be cancelled as soon as its id is known: it goes on without its client. */
  isUnwanted: boolean;
}

let keys = 0;

/** So many nodes are loaded one by one. */
const fewNodes = 2;

export class Chat {
  /** Another for each chat, also before it has an id. */
  readonly key = ++keys;
  /** The first response of the chat, or its conversation; undefined for a new chat. */
  readonly root = signal<string | undefined>(undefined);
  readonly nodes = signal<ReadonlyMap<string, ChatNode>>(new Map());
  readonly leaf = signal<string | undefined>(undefined);
  readonly path = computed(() => pathTo(this.nodes.value, this.leaf.value));
  /** Why the chat could not be loaded. */
  readonly problem = signal<string | undefined>(undefined);
  readonly isLoading = signal(false);
  /** Whether it is so long that its oldest responses are not loaded. */
  readonly hasOlder = signal(false);
  readonly isBusy = computed(() =>
    this.path.value.some(({ input, answer }) => input && !answer.isOver.value),
  );
  /** The branch that a person switched to last. */
  switchedTo: string | undefined;
  readonly #left = new AbortController();
  readonly #loads = new Set<string>();
  /** The request that has no id yet. */
  #sending: Sending | undefined;

  /** Loads a stored chat, and shows the branch with the response `at`, or the newest one. */
  async load(id: string, at?: string): Promise<void> {
    this.root.value = id;
    this.isLoading.value = true;
    this.problem.value = undefined;
    try {
      const { root, runs, hasOlder } = await loadThread(id, this.#left.signal);
      this.root.value = root;
      this.hasOlder.value = hasOlder;
      this.nodes.value = new Map(toNodes(runs, root).map((node) => [node.id, node]));
      // Its own address shows the newest branch; that of another response the branch with it.
      const wanted = at ?? (id === root ? undefined : id);
      const isThere = wanted !== undefined && this.nodes.peek().has(wanted);
      const isShown = this.select(newestLeaf(this.nodes.peek(), isThere ? wanted : undefined));
      if (runs.length === 0)
        this.problem.value = "This chat does not exist any more, or belongs to another key.";
      await isShown;
      const response = this.path.peek().at(-1)?.answer.response.peek();
      if (response) showSettings(settingsOf(response));
    } catch (error) {
      if (!isAbort(error)) this.problem.value = messageOf(error);
    } finally {
      this.isLoading.value = false;
    }
  }

  /** Loads what could not be loaded before. */
  retry(id: string | undefined, at?: string): void {
    if (this.problem.peek() === undefined) void this.select(this.leaf.peek());
    else if (id !== undefined) void this.load(id, at);
  }

  /** Shows the branch that ends with a response. Resolves when the end of it is loaded; the rest follows. */
  async select(leaf: string | undefined): Promise<void> {
    this.leaf.value = leaf;
    const missing = this.path.peek().filter((node) => this.#isMissing(node));
    const last = missing.at(-1);
    if (!last) return;
    if (missing.length <= fewNodes || last.thread === undefined) {
      await Promise.all(missing.map((node) => this.#load(node)));
      return;
    }
    const reading = this.#read(missing, last.thread);
    await Promise.race([reading, this.#isLoaded(last.id)]);
  }

  /** Sends a request that follows a response, and shows its answer as it comes. */
  async send(input: readonly Item[], follows: string | null, server: ChatServer): Promise<void> {
    const after = server.isStored ? this.#storedBefore(follows) : follows;
    const answer = new Answer();
    const temporary = `new-${++keys}`;
    const node: ChatNode = {
      id: temporary,
      key: temporary,
      previous: after,
      createdAtMs: Date.now(),
      input,
      answer,
    };
    let body: Record<string, unknown> | undefined;
    try {
      body = this.#request(input, after, server);
    } catch (error) {
      this.#fail(answer, error);
    }
    this.#put(node);
    this.leaf.value = temporary;
    if (!body) return;
    const sending: Sending = { controller: new AbortController(), isUnwanted: false };
    const { signal: stopped } = sending.controller;
    this.#sending = sending;
    try {
      const onCreated = ({ id }: ResponseObject) => {
        if (!server.isStored) return;
        this.#put({ ...node, id }, temporary);
        this.root.value ??= id;
        if (this.leaf.peek() === temporary) this.leaf.value = id;
        if (sending.isUnwanted) void cancel(id, answer);
      };
      const signal = AbortSignal.any([this.#left.signal, stopped]);
      await create(body, answer, signal, onCreated, this.#decisionKey(input, after));
    } catch (error) {
      if (stopped.aborted && !this.#left.signal.aborted) answer.stop();
      else this.#fail(answer, error);
    }
  }

  /** Stops the answer. What was said stays. */
  async stop(server: ChatServer): Promise<void> {
    const node = this.path.peek().findLast(({ answer }) => !answer.isOver.peek());
    if (!node) return;
    if (!isTemporary(node.id)) await cancel(node.id, node.answer);
    else if (!this.#sending) return;
    else if (server.isStored) this.#sending.isUnwanted = true;
    else this.#sending.controller.abort();
  }

  /** Stops following. Answers go on at the server. */
  leave(): void {
    this.#left.abort();
  }

  #request(input: readonly Item[], after: string | null, { isStored, tools }: ChatServer) {
    const root = this.root.peek();
    const before = after === null ? undefined : this.nodes.peek().get(after);
    const functions = (before?.answer.response.peek()?.tools ?? []).filter(
      ({ type }) => type === "function" || type === "custom",
    );
    // A conversation only grows at its end. A branch of one is a chat of its own, which begins with its messages.
    const isConversation = root?.startsWith("conv_") === true;
    const isAtEnd = after !== null && newestLeaf(this.#stored(), after) === after;
    const sendsHistory = !isStored || (isConversation && !isAtEnd);
    const history = sendsHistory ? pathTo(this.nodes.peek(), after ?? undefined).flatMap(itemsOf) : [];
    const follows =
      sendsHistory || after === null ? null : isConversation ? { conversation: root } : { response: after };
    if (sendsHistory && isStored) this.root.value = undefined;
    return toRequest({
      settings: settings.peek(),
      tools,
      functions,
      input: [...history, ...input],
      after: follows,
      source: after === null && root !== undefined && !isConversation ? branchSource(root) : consoleSource,
      isStored,
    });
  }

  /** The response itself, or the last one before it that the server knows: what was refused has no id there. */
  #storedBefore(id: string | null): string | null {
    const path = pathTo(this.nodes.peek(), id ?? undefined);
    return path.findLast((node) => !isTemporary(node.id))?.id ?? null;
  }

  #stored(): ReadonlyMap<string, ChatNode> {
    return new Map([...this.nodes.peek()].filter(([id]) => !isTemporary(id)));
  }

  /** Of the first decision about the calls of a response. Sent again as a branch, it is another request. */
  #decisionKey(input: readonly Item[], after: string | null): string | undefined {
    if (after === null || !input.some(({ type }) => type === "mcp_approval_response")) return undefined;
    const isBranch = [...this.#stored().values()].some(({ previous }) => previous === after);
    return isBranch ? undefined : decisionKey(after);
  }

  #put(node: ChatNode, instead?: string): void {
    const nodes = new Map(this.nodes.peek());
    if (instead !== undefined) nodes.delete(instead);
    this.nodes.value = nodes.set(node.id, node);
  }

  #isMissing({ id, input }: ChatNode): boolean {
    return input === undefined && !this.#loads.has(id);
  }

  /** Resolves when what a node says is there. */
  async #isLoaded(id: string): Promise<void> {
    await new Promise<void>((resolve) => {
      const stop = effect(() => {
        if (this.nodes.value.get(id)?.input === undefined) return;
        resolve();
        queueMicrotask(() => stop());
      });
    });
  }

  /** Loads what many nodes of a thread say, with a few requests. */
  async #read(nodes: readonly ChatNode[], thread: string): Promise<void> {
    const left = new Map(nodes.map((node) => [node.id, node]));
    for (const id of left.keys()) this.#loads.add(id);
    try {
      for await (const runs of readContents(thread, this.#left.signal)) {
        this.#putAll(runs);
        for (const { id } of runs) left.delete(id);
        if (left.size === 0) return;
        await drawn();
      }
    } catch (error) {
      for (const { answer } of left.values()) this.#fail(answer, error);
      for (const id of left.keys()) this.#loads.delete(id);
      return;
    }
    // Those of other threads, and those that were removed.
    for (const id of left.keys()) this.#loads.delete(id);
    await Promise.all([...left.values()].map((node) => this.#load(node)));
  }

  #putAll(runs: readonly FullRun[]): void {
    const nodes = new Map(this.nodes.peek());
    batch(() => {
      for (const { id, response, input } of runs) {
        const node = nodes.get(id);
        if (!node || node.input !== undefined) continue;
        if (input.has_more) {
          this.#loads.delete(id);
          void this.#load(node);
          continue;
        }
        this.#loads.add(id);
        nodes.set(id, { ...node, input: input.data });
        this.#show(node, response);
      }
      this.nodes.value = nodes;
    });
  }

  /** Shows an answer, and follows it if it is not over. */
  #show({ id, answer }: ChatNode, response: ResponseObject): void {
    if (!isRunning(response)) answer.show(response);
    else void follow(id, answer, this.#left.signal).catch((error: unknown) => this.#fail(answer, error));
  }

  /** Loads what a node says, once, and follows it if it is not over. */
  async #load(node: ChatNode): Promise<void> {
    if (!this.#isMissing(node)) return;
    this.#loads.add(node.id);
    const { signal } = this.#left;
    const path = `v1/responses/${encodeURIComponent(node.id)}`;
    try {
      const [response, input] = await Promise.all([
        get<ResponseObject>(path, { signal }),
        loadInput(path, signal),
      ]);
      this.#put({ ...node, input });
      this.#show(node, response);
    } catch (error) {
      this.#loads.delete(node.id);
      this.#fail(node.answer, error);
    }
  }

  #fail(answer: Answer, error: unknown): void {
    if (this.#left.signal.aborted) return;
    answer.fail({ code: (error as { code?: string }).code ?? "error", message: messageOf(error) });
  }
}

/** Whether a node has no id of the server: none yet, or never. */
function isTemporary(id: string): boolean {
  return id.startsWith("new-");
}

async function cancel(id: string, answer: Answer): Promise<void> {
  try {
    await post(`v1/responses/${encodeURIComponent(id)}/cancel`);
  } catch (error) {
    answer.fail({ code: "cancel_failed", message: messageOf(error) });
  }
}

/** Lets the browser show what came before more comes. */
async function drawn(): Promise<void> {
  if (document.visibilityState !== "visible") return;
  await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
}

/** The items of a turn as input of a later one, without what was stopped before it said anything. */
function itemsOf({ input = [], answer }: ChatNode): readonly Item[] {
  const items = answer.items.peek().map(({ item }) => item.peek());
  return [...input, ...items.filter(({ status }) => status !== "in_progress")];
}

/** In a conversation, each response follows the one before. */
function toNodes(runs: readonly RunSummary[], root: string): ChatNode[] {
  const isConversation = root.startsWith("conv_");
  const sorted = runs.toSorted((a, b) => a.created_at_ms - b.created_at_ms);
  return sorted.map((run, index) => ({
    id: run.id,
    key: run.id,
    thread: run.thread_id,
    previous: isConversation ? (sorted[index - 1]?.id ?? null) : run.previous_response_id,
    createdAtMs: run.created_at_ms,
    input: undefined,
    answer: new Answer(),
  }));
}
