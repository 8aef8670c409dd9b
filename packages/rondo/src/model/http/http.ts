// What this library needs from HTTP: one exchange whose body is pushed in chunks. http-node.ts and http-fetch.ts
// implement it; `#http` in package.json selects one by runtime.

export interface HttpRequest {
  readonly method: "GET" | "POST";
  readonly url: URL;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** In parts: a long text that is put together would be copied for it. */
  readonly body?: readonly string[] | undefined;
  /** Closes the connection at once, also while the body is read, and rejects with its reason. */
  readonly signal: AbortSignal;
}

/**
 * Takes a chunk of a body, whose bytes are only valid during the call. Returns `true` if the rest is not needed; an error
 * ends the reading.
 */
export type TakeBytes = (bytes: Uint8Array) => boolean;

export interface HttpResponse {
  readonly status: number;
  /** Whether all of its body has come. False if that is not known. */
  readonly isComplete: boolean;
  /** The value of a header; its name in lower case. */
  header(name: string): string | undefined;
  /**
   * Pushes the body as it arrives, without a promise for each chunk. Resolves at its end, rejects when the connection
   * breaks. Must be called once, even if the body is not needed: it releases the connection.
   */
  read(take: TakeBytes): Promise<void>;
  /** Stops reading until `resume()`. */
  pause(): void;
  resume(): void;
}

/** Sends a request. Resolves with the head of the reply; redirects are not followed. */
export type HttpSend = (request: HttpRequest) => Promise<HttpResponse>;

/** Reads a body as text, truncated to a number of bytes, unless `onExcess` throws. */
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
