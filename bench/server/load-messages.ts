// What the load generator is asked for, and what it answers.

/** A body for `POST /responses`, or for `POST /chat/completions`. */
export type Body = Readonly<Record<string, unknown>>;

export type LoadRequest =
  /** `count` streams at once, each read to its end. */
  | { readonly type: "streams"; readonly url: string; readonly body: Body; readonly count: number }
  /** `count` requests over so many connections. */
  | {
      readonly type: "requests";
      readonly url: string;
      readonly body: Body;
      readonly count: number;
      readonly connections: number;
    }
  /** The time to the first token, `count` times directly and through the server, by turns. */
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
  /** `count` turns of one conversation, each after the one before; answers with the last one's id. */
  | {
      readonly type: "chain";
      readonly url: string;
      readonly body: Body;
      readonly count: number;
      readonly previousId: string | undefined;
    };

export interface LoadResult {
  /** How long all of it took. */
  readonly wallMs: number;
  /** How long each request took; to the first token, where that is asked for. */
  readonly timesMs: readonly number[];
  /** The same without the server. */
  readonly directMs?: readonly number[];
  /** How many pieces of text came, and how long they were together. */
  readonly pieces?: number;
  readonly characters?: number;
  readonly lastId?: string;
}
