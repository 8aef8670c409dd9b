// What a store keeps and promises. Memory, SQLite and PostgreSQL are built to this one contract, and one suite
// of tests holds them to it.
//
// A response is a row that changes, and three lists that only grow: its items, its events (background runs only)
// and its steps, which say how far the run has come. Whoever runs a response holds its lease; every write names
// the lease's fence, so that a worker that was paused and has lost its lease cannot write any more.

import type { JsonObject } from "rondo";
import type { InputItem, OutputItem } from "../protocol/items.ts";
import type { IncompleteReason, ResponseError, ResponseUsage } from "../protocol/response.ts";
import type { ResponseStatus } from "../protocol/status.ts";
import type { ConversationPlace, ConversationStore } from "./conversation-store.ts";

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

/** A key of a client for one request: whoever comes first with it makes the response. */
export interface KeyClaim extends RepeatKey {
  readonly untilMs: number;
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

/** Who runs a response, and with which right to write. */
export interface Lease {
  readonly responseId: string;
  /** Grows with every lease of this response. */
  readonly fence: number;
}

/** A response that a worker has taken over. */
export interface Claim extends Lease {
  readonly response: StoredResponse;
  /** How often it was claimed since it last made progress, this time included; not those that others have ended. */
  readonly attempts: number;
  /** How many processes have died while it was at work, since it last made progress. */
  readonly suspicion: number;
}

export interface ClaimOptions {
  readonly leaseMs: number;
  readonly limit: number;
  /** Only this response. Default: any. */
  readonly id?: string;
  /**
   * `none`: no background run that was at work when a process died. `only`: none but these, the least blamed first;
   * they must work apart from others, so that they are to blame if the process dies again. Default: all.
   */
  readonly suspects?: "none" | "only";
  /** Only responses that are to be ended and not run: of the foreground, or cancelled. Default: any. */
  readonly onlyToEnd?: boolean;
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

  // For workers.

  /**
   * Keeps a new response. One that is `in_progress` comes leased to `worker`. Of a conversation, throws a
   * `StoreError`: `unknown_conversation`, `conversation_busy`, `conversation_changed`. If its owner has a response
   * under the same key: `key_taken`.
   */
  create(response: NewResponse, worker: string, leaseMs: number): Promise<Lease>;
  /**
   * Leases responses that nobody runs to `worker`: queued ones, and those whose lease is over, oldest first.
   * A response is given to one worker only, whoever asks at the same time. One of a conversation is given when no
   * older one of it is left, or when it is to be cancelled. A lease that was not given back in time counts as the
   * death of its worker.
   */
  claim(worker: string, options: ClaimOptions): Promise<readonly Claim[]>;
  /**
   * Says that others may work beside a run again. With `hasProgressed` it got further than before: it is no suspect
   * any more, and its attempts are forgotten. Without it has only worked apart for long enough. A lease that is lost
   * changes nothing.
   */
  trust(lease: Lease, options: { hasProgressed: boolean }): Promise<void>;
  /** Prolongs leases. Gives those that are still held, with whether they are to be cancelled. */
  renew(
    leases: readonly Lease[],
    leaseMs: number,
  ): Promise<readonly { responseId: string; isCancelRequested: boolean }[]>;
  /**
   * Gives a lease back before its time, so that another may claim the response. `forgetsAttempt` if it is not the
   * run's fault: the claim then does not count as one of its attempts. Default: it counts.
   */
  release(lease: Lease, options?: { forgetsAttempt?: boolean }): Promise<void>;
  /**
   * Adds to a response. The commit that ends it also adds its items to its conversation. Throws a `StoreError` and changes nothing: `lost_lease` when the fence is not the newest
   * (or the response was removed), `illegal_transition`, `frozen_item`, `out_of_order`.
   */
  commit(lease: Lease, write: RunWrite): Promise<void>;
  /** All that a worker needs to go on with a response. */
  resume(lease: Lease): Promise<StoredRun>;

  // For the server.

  /** How many background runs wait for a worker, and how many have begun and are not over; of one owner, or of all. */
  countBackground(owner?: string): Promise<{ readonly queued: number; readonly running: number }>;
  /** Removes responses that ended before this time. Gives how many. */
  expire(beforeMs: number): Promise<number>;
  /** A value that lives as long as the store: the first that is offered under a name stays. */
  keepSecret(name: string, offered: string): Promise<string>;
  /** Throws when the store cannot write. */
  check(): Promise<void>;
  close(): Promise<void>;
}
