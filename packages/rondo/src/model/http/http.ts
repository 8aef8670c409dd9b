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

/** Reads a body as text, up to a number of bytes. What is beyond them is left out, or `onExcess` throws. */
export async function readText(
  response: HttpResponse,
  maxBytes: number,
  onExcess?: () => never,
): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  let left = maxBytes;
  await response.read((bytes) => {
    if (bytes.length > left) onExcess?.();
    text += decoder.decode(bytes.subarray(0, left), { stream: true });
    left -= Math.min(left, bytes.length);
    return left === 0 && !onExcess;
  });
  return text + decoder.decode();
}
