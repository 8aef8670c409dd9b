// What a trial needs to know about a client.

/** An API of the server that a client speaks. */
export type Api = "Responses" | "Responses over WebSocket" | "chat completions";

export interface Place {
  /** The client's home folder. */
  readonly home: string;
  /** The base URL of the server, with `/v1`. */
  readonly url: string;
  readonly api: Api;
}

export interface Client {
  readonly name: string;
  /** Its package, whose version is in `package.json`. */
  readonly package: string;
  readonly apis: readonly Api[];
  /** Its program, in `node_modules`. */
  readonly program: string;
  /** Files of its home folder, by their paths. */
  readonly files?: (place: Place) => Readonly<Record<string, string>>;
  readonly env?: (place: Place) => Readonly<Record<string, string>>;
  /** The arguments for a prompt; later ones continue the session. */
  readonly args: (prompt: string, isFirst: boolean, place: Place) => readonly string[];
  /** Whether all prompts go to one process, over the Agent Client Protocol. `args` are then given once. */
  readonly isAcp?: boolean;
}
