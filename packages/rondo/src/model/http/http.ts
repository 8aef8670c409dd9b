// What this library needs of HTTP: one exchange whose body is pushed piece by piece. Two files provide it,
// http-node.ts and http-fetch.ts; `#http` in package.json chooses the one that fits the runtime.

export interface HttpRequest {
  readonly method: "GET" | "POST";
  readonly url: URL;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
  /** Closes the connection at once, also while the body is read; its reason is what rejects. */
  readonly signal: AbortSignal;
}

/** Takes a piece of a body. `true` says that the rest is not needed; what it throws ends the reading. */
export type TakeBytes = (bytes: Uint8Array) => boolean;

export interface HttpResponse {
  readonly status: number;
  /** The value of a header; its name in lower case. */
  header(name: string): string | undefined;
  /**
   * Hands over the body as it comes, without a promise for each piece. Resolves at its end, rejects when the
   * connection breaks. To be called once, also when nobody wants the body: it is what frees the connection.
   */
  read(take: TakeBytes): Promise<void>;
  /** Holds the server back until `resume()`. */
  pause(): void;
  resume(): void;
}

/** Sends a request. Resolves with the head of the answer; redirects are answers like any other. */
export type HttpSend = (request: HttpRequest) => Promise<HttpResponse>;

/** Reads a body as text, up to a number of bytes. */
export async function readText(response: HttpResponse, maxBytes = Number.POSITIVE_INFINITY): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  let size = 0;
  await response.read((bytes) => {
    text += decoder.decode(bytes, { stream: true });
    size += bytes.length;
    return size >= maxBytes;
  });
  return text + decoder.decode();
}
