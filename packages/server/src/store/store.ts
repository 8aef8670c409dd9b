// The contract of a store. Memory and SQLite implement it, as any other store can; one suite of tests
// (`describeStore`) checks them all.
//
// A response is a row that changes, and three lists that only grow: its items, its events (only of runs that can be
// followed later) and its steps, which tell a later process how far the run has come. Writes to a run name the fence
// of its lease, so that a worker that lost its lease cannot write any more.

import type { JsonObject } from "rondo";
import type { InputItem, OutputItem } from "../protocol/items.ts";
import type { IncompleteReason, ResponseError, ResponseUsage } from "../protocol/response.ts";
import type { ResponseStatus } from "../protocol/status.ts";
import type { ConversationPlace, ConversationStore } from "./conversation-store.ts";
import type { News } from "./news.ts";
import type { Lease, RunQueue } from "./run-queue.ts";

export interface StoredResponse {
  readonly id: string;
  /** Who may see it. */
  readonly owner: string;
  readonly status: ResponseStatus;
  readonly background: boolean;
  readonly model: string;
  readonly createdAtMs: number;
  readonly completedAtMs: number | null;
  readonly previousResponseId: string | null;
  /** The request as it was accepted, without its input: what a run needs, and what is echoed. */
  readonly request: JsonObject;
  readonly error: ResponseError | null;
  readonly incompleteReason: IncompleteReason | null;
  readonly usage: ResponseUsage | null;
  /** Whether someone has asked to cancel it. */
  readonly isCancelRequested: boolean;
}

/** What a new response starts with. `queued` waits for a worker; `in_progress` is leased to `worker` at once. */
export interface NewResponse {
  readonly id: string;
  readonly owner: string;
  readonly status: "queued" | "in_progress";
  readonly background: boolean;
  readonly model: string;
  readonly createdAtMs: number;
  readonly previousResponseId: string | null;
  /** Whether calls in its output may stay unanswered, because nobody was to answer them. */
  readonly isClosed: boolean;
  /** The conversation that it adds its items to. Default: none. */
  readonly conversation?: ConversationPlace;
  readonly request: JsonObject;
  /** The input items in their order, each with an id that no other item of this owner has. */
  readonly input: readonly (InputItem & { id: string })[];
  /** The first events, for background runs. */
  readonly events: readonly StoredEvent[];
  /** What only the run may know, sealed: for `resume`, and gone when the response ends. Default: nothing. */
  readonly credentials?: string | undefined;
  /** The key under which a repeated request finds it. Default: none. */
  readonly idempotency?: KeyClaim;
}

/** A client's key for one request: the first request with it creates the response. */
export interface KeyClaim extends RepeatKey {
  /** For how long. */
  readonly keepMs: number;
}

export interface RepeatKey {
  readonly key: string;
  /** What tells the request from others. */
  readonly fingerprint: string;
}

export interface StoredEvent {
  /** Its `sequence_number`: 0, 1, 2 … without gaps in each response. */
  readonly sequence: number;
  /** The event as JSON. */
  readonly data: string;
}

/** An item of the output, at its `output_index`. `turn` says which answer of the model it belongs to, from 0. */
export interface StoredOutput {
  readonly index: number;
  readonly turn: number;
  readonly item: OutputItem;
}

/** A fact about the progress of a run, as JSON. Its meaning is the engine's business. */
export type Step = JsonObject;

/** Changes of the response itself. */
export interface ResponseUpdate {
  readonly status?: ResponseStatus;
  readonly completedAtMs?: number;
  readonly error?: ResponseError;
  readonly incompleteReason?: IncompleteReason;
  readonly usage?: ResponseUsage;
}

/** What one commit adds. All of it, or nothing. */
export interface RunWrite {
  /** Must go on where the last commit has ended. */
  readonly events?: readonly StoredEvent[];
  /** New items, or new versions of items that were `in_progress`; a finished item is refused. */
  readonly output?: readonly StoredOutput[];
  readonly steps?: readonly Step[];
  readonly update?: ResponseUpdate;
  /** Whether it must survive a power cut, and not only the end of the process. */
  readonly isDurable: boolean;
}

export interface ListOptions {
  /** 1 to 100. */
  readonly limit: number;
  readonly order: "asc" | "desc";
  /** The id after which, or before which, the page lies, in the order of the list. */
  readonly after?: string;
  readonly before?: string;
}

export interface ListResponsesOptions extends ListOptions {
  readonly status?: ResponseStatus;
  readonly model?: string;
  readonly background?: boolean;
}

/** A page of a list, in its order. */
export interface Page<T> {
  readonly data: readonly T[];
  readonly hasMore: boolean;
}

/** What of a response goes into a conversation that follows it. Nobody may change it: others may be given the same. */
export interface ChainLink extends Pick<StoredResponse, "id" | "status"> {
  readonly isClosed: boolean;
  readonly input: readonly InputItem[];
  readonly output: readonly StoredOutput[];
}

export interface Chain {
  /** Oldest first. */
  readonly links: readonly ChainLink[];
  /** A response of it that is missing, deleted or another's. There are no links then. */
  readonly missing?: string;
}

/** How far a run has come. */
export interface StoredRun {
  readonly input: readonly InputItem[];
  readonly output: readonly StoredOutput[];
  readonly steps: readonly Step[];
  /** The number of its last event; -1 for none. */
  readonly lastSequence: number;
  /** As they were created; undefined if there were none, or the response ended. */
  readonly credentials: string | undefined;
}

export interface Store extends ConversationStore {
  readonly queue: RunQueue;
  /** Default: news of this process only. */
  readonly news?: News;
  /**
   * How often followers, waiting runs and workers read the store without news: for a store that several processes
   * write to, if news can get lost between them. Default: never.
   */
  readonly pollMs?: number;
  /** How long a run collects events for one commit. Default: 0, until the event loop has handled what is ready. */
  readonly flushWindowMs?: number;
  /** Whether only requests with `store: false` are served, and no conversations. Default: false. */
  readonly keepsNothing?: boolean;

  // For clients: all limited to an owner. What belongs to another does not exist.

  get(owner: string, id: string): Promise<StoredResponse | undefined>;
  output(owner: string, id: string): Promise<readonly StoredOutput[]>;
  /** Newest first unless told otherwise. An unknown cursor is a `StoreError` with the code `unknown_cursor`. */
  list(owner: string, options: ListResponsesOptions): Promise<Page<StoredResponse>>;
  /** The input items of one response. */
  input(owner: string, id: string, options: ListOptions): Promise<Page<InputItem>>;
  /** The response `id` and all before it. */
  chain(owner: string, id: string): Promise<Chain>;
  /** Items by their ids, of responses or conversations, in any order; those that do not exist are left out. */
  items(owner: string, ids: readonly string[]): Promise<readonly (InputItem | OutputItem)[]>;
  /** Events after `sequence`, at most `limit`. */
  events(owner: string, id: string, after: number, limit: number): Promise<readonly StoredEvent[]>;
  /** The response that was made under a key, as long as both are kept. */
  findByKey(owner: string, key: string): Promise<{ responseId: string; fingerprint: string } | undefined>;
  /** Removes a response with all that belongs to it, its key too, and ends its lease. Whether there was one. */
  remove(owner: string, id: string): Promise<boolean>;
  /** Notes the wish to cancel, if the response is not over. Gives it as it then is. */
  requestCancel(owner: string, id: string): Promise<StoredResponse | undefined>;

  // For runs: fenced by a lease.

  /**
   * Keeps a new response: a `queued` one in the queue, an `in_progress` one leased to `worker`. Throws a `StoreError`:
   * for its conversation `unknown_conversation`, `conversation_busy` or `conversation_changed`; `key_taken` if its
   * owner has a response under the same key.
   */
  create(response: NewResponse, worker: string, leaseMs: number): Promise<Lease>;
  /**
   * Adds to a response. The commit that ends it also adds its items to its conversation, and takes it from the queue.
   * Throws a `StoreError` and changes nothing: `lost_lease` when the fence is not the newest (or the response was
   * removed), `illegal_transition`, `frozen_item`, `out_of_order`.
   */
  commit(lease: Lease, write: RunWrite): Promise<void>;
  /** What a worker needs to continue a response. */
  resume(lease: Lease): Promise<StoredRun>;

  // For the server.

  /** Removes responses that ended before this time. Gives how many. */
  expire(beforeMs: number): Promise<number>;
  /** A value that lives as long as the store: the first that is offered under a name stays. */
  keepSecret(name: string, offered: string): Promise<string>;
  /** Throws when the store cannot write. */
  check(): Promise<void>;
  close(): Promise<void>;
}
