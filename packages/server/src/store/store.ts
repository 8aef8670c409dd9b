// The contract of a store. SQLite (in a file or in memory) and PostgreSQL implement it, as any other store can; one
// suite of tests (`describeStore`) checks them all.
//
// A response is a row that changes, and three lists that only grow: its items, its events (only of runs that can be
// followed later) and its steps, which tell a later process how far the run has come. Writes to a run name the fence
// of its lease, so that a worker that lost its lease cannot write any more.

import type { JsonObject } from "rondo";
import type { InputItem, OutputItem } from "../protocol/items.ts";
import type { IncompleteReason, ResponseError, ResponseUsage } from "../protocol/response.ts";
import type { ResponseStatus } from "../protocol/status.ts";
import type { ConversationPlace, ConversationStore } from "./conversation-store.ts";
import type { FileStore } from "./file-store.ts";
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
  /** Whether its cancellation was requested. */
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
  /** Whether calls in its output may stay unanswered (`tool_choice: "none"`). */
  readonly isClosed: boolean;
  /** The conversation that it adds its items to. Default: none. */
  readonly conversation?: ConversationPlace;
  readonly request: JsonObject;
  /** The input items in order, each with an id that no other item of this owner has. */
  readonly input: readonly (InputItem & { id: string })[];
  /** Its first events, if they are logged. */
  readonly events: readonly StoredEvent[];
  /** Sealed credentials of the run, for `resume`; deleted when the response ends. Default: none. */
  readonly credentials?: string | undefined;
  /** The key under which a repeated request finds it. Default: none. */
  readonly idempotency?: KeyClaim;
  /** What lists show of it, on one line. Default: none. */
  readonly title?: string;
  /** Where the request came from, as the client says. Default: unknown. */
  readonly source?: string;
}

/** A client's key for one request: the first request with it creates the response. */
export interface KeyClaim extends RepeatKey {
  /** How long it is kept. */
  readonly keepMs: number;
}

export interface RepeatKey {
  readonly key: string;
  /** Identifies the request's content. */
  readonly fingerprint: string;
}

export interface StoredEvent {
  /** Its `sequence_number`: 0, 1, 2 … without gaps in each response. */
  readonly sequence: number;
  /** The event as JSON. */
  readonly data: string;
}

/** An item of the output, at its `output_index`. `turn`: the number of the answer it belongs to, from 0. */
export interface StoredOutput {
  readonly index: number;
  readonly turn: number;
  readonly item: OutputItem;
}

/** A durable fact about how far a run has come, as JSON. Only the engine reads it. */
export type Step = JsonObject;

/** Changes of the response itself. */
export interface ResponseUpdate {
  readonly status?: ResponseStatus;
  readonly completedAtMs?: number;
  readonly error?: ResponseError;
  readonly incompleteReason?: IncompleteReason;
  readonly usage?: ResponseUsage;
}

/** Some events of a run's trace, as lines of JSON. Only the engine reads them. */
export interface TracePiece {
  /** The numbers of its first and last event: 0, 1, 2 … without gaps in each response. */
  readonly first: number;
  readonly last: number;
  readonly lines: string;
}

/** What one commit adds. All of it, or nothing. */
export interface RunWrite {
  /** Must follow the last committed event. */
  readonly events?: readonly StoredEvent[];
  /** New items, or new versions of items that were `in_progress`; a finished item is refused. */
  readonly output?: readonly StoredOutput[];
  readonly steps?: readonly Step[];
  readonly update?: ResponseUpdate;
  /** What happened since the last piece of the trace. One that is there already is not added again. */
  readonly trace?: TracePiece;
  /** Whether it must survive a power cut, and not only the end of the process. */
  readonly isDurable: boolean;
}

export interface ListOptions {
  /** 1 to 100. */
  readonly limit: number;
  readonly order: "asc" | "desc";
  /** The id that the page follows or precedes, in the order of the list. */
  readonly after?: string;
  readonly before?: string;
}

export interface ListResponsesOptions extends ListOptions {
  readonly status?: ResponseStatus;
  readonly model?: string;
  readonly background?: boolean;
}

export interface ListRunsOptions extends ListResponsesOptions {
  readonly source?: string;
  /** The first response of a chain, or a conversation. */
  readonly thread?: string;
  /** Whether only the first responses of threads are given. Default: false. */
  readonly onlyRoots?: boolean;
  /** A part of the title, in any case; or the first characters of an id, from `resp_` and 4 more on. */
  readonly search?: string;
  /** Both exclusive. */
  readonly createdAfterMs?: number;
  readonly createdBeforeMs?: number;
}

/** A response as lists of many show it. */
export interface RunSummary
  extends Pick<
    StoredResponse,
    | "id"
    | "status"
    | "background"
    | "model"
    | "createdAtMs"
    | "completedAtMs"
    | "previousResponseId"
    | "error"
    | "usage"
  > {
  readonly title: string | null;
  readonly source: string | null;
  /** The first response of its chain, or its conversation. */
  readonly threadId: string;
}

/** A page for which so much was read at most, however few of it match. */
export interface ScannedPage<T> extends Page<T> {
  /** The id after which the next page begins, in the direction of this one; undefined if there is no next one. */
  readonly next: string | undefined;
}

/** A page of a list, in its order. */
export interface Page<T> {
  readonly data: readonly T[];
  readonly hasMore: boolean;
}

/** What a response contributes to the conversation after it. Do not change it: it may be shared. */
export interface ChainLink extends Pick<StoredResponse, "id" | "status"> {
  readonly isClosed: boolean;
  readonly input: readonly InputItem[];
  readonly output: readonly StoredOutput[];
}

export interface Chain {
  /** Oldest first. */
  readonly links: readonly ChainLink[];
  /** The response that does not exist, or belongs to another owner. There are no links then. */
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
  /** The number of the next event of its trace, and how long that is in UTF-8. */
  readonly trace: { readonly next: number; readonly bytes: number };
}

export interface Store extends ConversationStore {
  readonly queue: RunQueue;
  /** Keeps uploaded files. Default: the server has no `/v1/files`, and containers take no `file_ids`. */
  readonly files?: FileStore;
  /** Default: news of this process only. */
  readonly news?: News;
  /**
   * How often followers, waiting runs and workers read the store without news: for a store that several processes
   * write to, if news can get lost between them. Default: never.
   */
  readonly pollMs?: number;
  /**
   * How long a run collects events for one commit, from the commit before. Default: 0, until the event loop has handled
   * what is ready.
   */
  readonly flushWindowMs?: number;
  /** Whether other processes work on its runs too: one that ends hands them over soon. Default: false. */
  readonly isShared?: boolean;
  /** Whether only requests with `store: false` are served, and no conversations. Default: false. */
  readonly keepsNothing?: boolean;

  // For clients, always of one owner: what belongs to another does not exist.

  get(owner: string, id: string): Promise<StoredResponse | undefined>;
  output(owner: string, id: string): Promise<readonly StoredOutput[]>;
  /** Ordered by age. An unknown cursor is a `StoreError` with the code `unknown_cursor`. */
  list(owner: string, options: ListResponsesOptions): Promise<Page<StoredResponse>>;
  /** As `list`, in short, and with more filters: each page costs the same, however many responses there are. */
  listRuns(owner: string, options: ListRunsOptions): Promise<ScannedPage<RunSummary>>;
  /** The pieces of a trace with events after this number, in their order. */
  trace(owner: string, id: string, after: number): Promise<readonly TracePiece[]>;
  /** The input items of one response. */
  input(owner: string, id: string, options: ListOptions): Promise<Page<InputItem>>;
  /** The response `id` and all before it. */
  chain(owner: string, id: string): Promise<Chain>;
  /** Items by their ids, of responses or conversations, in any order; those that do not exist are left out. */
  items(owner: string, ids: readonly string[]): Promise<readonly (InputItem | OutputItem)[]>;
  /** Events after `sequence`, at most `limit`. */
  events(owner: string, id: string, after: number, limit: number): Promise<readonly StoredEvent[]>;
  /** The response of a key, as long as both are kept. */
  findByKey(owner: string, key: string): Promise<{ responseId: string; fingerprint: string } | undefined>;
  /** Removes a response with its items, events, steps, trace, key and lease. Returns whether it existed. */
  remove(owner: string, id: string): Promise<boolean>;
  /** Requests its cancellation, if it has not ended. Returns the response after that. */
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

  /** Removes responses that ended before this time. Returns how many. */
  expire(beforeMs: number): Promise<number>;
  /** Keeps the first value that is offered under a name, as long as the store exists, and returns it. */
  keepSecret(name: string, offered: string): Promise<string>;
  /** Throws when the store cannot write. */
  check(): Promise<void>;
  close(): Promise<void>;
}
