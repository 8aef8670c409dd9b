// The messages to and from the load generator.

/** A body for `POST /responses`, or for `POST /chat/completions`. */
export type Body = Readonly<Record<string, unknown>>;

export type LoadRequest =
  /** `count` concurrent streams, each read to its end. */
  | { readonly type: "streams"; readonly url: string; readonly body: Body; readonly count: number }
  /** `count` requests over this many connections. */
  | {
      readonly type: "requests";
      readonly url: string;
      readonly body: Body;
      readonly count: number;
      readonly connections: number;
    }
  /** The time to the first token, `count` times, alternately directly and through the server. */
  | {
      readonly type: "first-token";
      readonly url: string;
      readonly body: Body;
      readonly directUrl: string;
      readonly directBody: Body;
      readonly count: number;
    }
  /** Opens streams that do not end, until `release`. */
  | { readonly type: "hold"; readonly url: string; readonly body: Body; readonly count: number }
  | { readonly type: "release" }
  /** Reads the stream of one response `count` times at once; reports how long each event of `clock` took. */
  | { readonly type: "follow"; readonly url: string; readonly count: number }
  /** `count` requests of one conversation, in sequence; reports the id of the last response. */
  | {
      readonly type: "chain";
      readonly url: string;
      readonly body: Body;
      readonly count: number;
      readonly previousId: string | undefined;
    };

export interface LoadResult {
  /** The total time. */
  readonly wallMs: number;
  /** The time of each request; to the first token, if requested. */
  readonly timesMs: readonly number[];
  /** The same without the server. */
  readonly directMs?: readonly number[];
  /** The number of text deltas, and their total length. */
  readonly deltas?: number;
  readonly characters?: number;
  readonly lastId?: string;
}
