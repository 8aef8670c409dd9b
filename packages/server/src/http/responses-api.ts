// What the routes need of the service that runs responses.

import type { EventSink } from "../engine/event-sink.ts";
import type { ListQuery, PageQuery } from "../protocol/query.ts";
import type { ResponseObject } from "../protocol/response.ts";
import type { RepeatKey } from "../run/repeat.ts";

/** A request that was accepted and has its id, but does not run yet. */
export interface Prepared {
  readonly id: string;
  readonly request: {
    readonly model: string | undefined;
    readonly stream: boolean;
    readonly background: boolean;
  };
}

/** A page of a list, as the API has it. */
export interface ListObject<T> {
  object: "list";
  data: T[];
  first_id: string | null;
  last_id: string | null;
  has_more: boolean;
}

/** All methods throw an `ApiError` for what the client is to be told. What belongs to another owner is a 404. */
export interface ResponsesApi {
  /** Validates, and resolves the model and the chain. Under `repeatKey` the same request finds this one again. */
  prepare(owner: string, body: unknown, options?: { repeatKey?: RepeatKey | undefined }): Promise<Prepared>;
  /** The response of an earlier request under this key. Throws a 422 if that request was another one. */
  findRepeated(owner: string, key: RepeatKey): Promise<string | undefined>;
  /** Gives a response once more: one of the background as it is, another when it has ended. Throws as `runPlain`. */
  repeat(owner: string, id: string, signal: AbortSignal): Promise<ResponseObject>;
  /** Throws when the model has failed. */
  runPlain(prepared: Prepared, signal: AbortSignal): Promise<ResponseObject>;
  /** Faults of the run are events of the stream. */
  runStreamed(prepared: Prepared, sink: EventSink, signal: AbortSignal): Promise<void>;
  /** Puts a background run into the queue. */
  enqueue(prepared: Prepared): Promise<ResponseObject>;
  /** Sends the events after `startingAfter`, then those that come. Ends with the response, or with the signal. */
  follow(
    owner: string,
    id: string,
    startingAfter: number,
    sink: EventSink,
    signal: AbortSignal,
  ): Promise<void>;
  get(owner: string, id: string, include?: readonly string[]): Promise<ResponseObject>;
  list(owner: string, query: ListQuery): Promise<ListObject<unknown>>;
  inputItems(owner: string, id: string, query: PageQuery): Promise<ListObject<unknown>>;
  remove(owner: string, id: string): Promise<{ id: string; object: "response"; deleted: true }>;
  cancel(owner: string, id: string): Promise<ResponseObject>;
  countInputTokens(
    owner: string,
    body: unknown,
  ): Promise<{ object: "response.input_tokens"; input_tokens: number }>;
  /** A shorter form of a conversation, to go on with. */
  compact(owner: string, body: unknown, signal: AbortSignal): Promise<unknown>;
  listModels(): Promise<readonly { id: string; ownedBy: string }[]>;
  /** Throws when the server cannot work. */
  check(): Promise<void>;
}
