// Reads the replies of an HTTP/1.1 server (RFC 9112) from the bytes of a connection, however they are split. Strict: what
// is not quite HTTP is an error, after which the connection cannot be used. Takes linear time.

/** The head of a reply. */
export interface ReplyHead {
  readonly status: number;
  /** Names in lower case, each followed by its value. */
  readonly fields: readonly string[];
  /** Whether the connection can be used again after the reply. */
  readonly keepsConnection: boolean;
}

/** What receives the parts of a reply. */
export interface ReplyTaker {
  onHead(head: ReplyHead): void;
  /** A part of the body: a view of the bytes that were read. */
  onBody(bytes: Buffer): void;
  onEnd(): void;
}

/** Limits the head, the trailers, and the extensions of each chunk: to what Node allows for them. */
const maxHeadBytes = 16_384;
/** The size of a chunk has so many digits at most: more is not a safe integer. */
const maxSizeDigits = 12;

type State =
  | "status"
  | "field"
  | "size"
  | "extension"
  | "size-end"
  | "chunk"
  | "chunk-cr"
  | "chunk-lf"
  | "trailer"
  /** The body has a length. */
  | "counted"
  /** It ends with the connection. */
  | "unbounded"
  | "over";

const [cr, lf, semicolon] = [0x0d, 0x0a, 0x3b];

/** The value of each byte as a hexadecimal digit; -1 for others. */
const digitOf = new Int8Array(256).fill(-1);
for (const digits of ["0123456789abcdef", "0123456789ABCDEF"])
  for (let value = 0; value < 16; value += 1) digitOf[digits.charCodeAt(value)] = value;

/** It quotes nothing: a server may repeat the key that it was sent. */
class ReplySyntaxError extends Error {
  override readonly name = "ReplySyntaxError";
  readonly code = "ERR_INVALID_REPLY";

  constructor(what: string) {
    super(`The reply is not HTTP/1.1: ${what}.`);
  }
}

export class ReplyReader {
  readonly #taker: ReplyTaker;
  #state: State = "status";
  /** The start of a line whose end has not come. */
  #line = "";
  /** The bytes of the head, the trailers or the extensions so far. */
  #headBytes = 0;
  #status = 0;
  #isOldVersion = false;
  #fields: string[] = [];
  /** What is left of a body or a chunk, or the size of a chunk while it is read. */
  #left = 0;
  #digits = 0;

  constructor(taker: ReplyTaker) {
    this.#taker = taker;
  }

  /** Whether any byte of a reply has come. */
  get hasBegun(): boolean {
    return this.#headBytes > 0 || this.#state !== "status";
  }

  /** Whether the reply is complete. Bytes that come then are not part of it. */
  get isOver(): boolean {
    return this.#state === "over";
  }

  /** Begins the next reply of the connection. */
  reset(): void {
    this.#state = "status";
    this.#line = "";
    this.#headBytes = 0;
    this.#fields = [];
  }

  /**
   * Reads on, and returns how many bytes belong to the reply. They may be moved: the parts of a body that came together
   * are joined. Throws a `ReplySyntaxError`.
   */
  read(bytes: Buffer): number {
    let at = 0;
    let bodyStart = 0;
    let bodyEnd = 0;
    try {
      while (at < bytes.length && this.#state !== "over") {
        switch (this.#state) {
          case "chunk":
          case "counted":
          case "unbounded": {
            const count = Math.min(this.#left, bytes.length - at);
            if (bodyEnd === 0) bodyStart = bodyEnd = at;
            else bytes.copyWithin(bodyEnd, at, at + count);
            at += count;
            bodyEnd += count;
            this.#left -= count;
            if (this.#left > 0) break;
            if (this.#state === "chunk") {
              this.#state = "chunk-cr";
              at = this.#readSize(bytes, at);
            } else this.#state = "over";
            break;
          }
          case "status":
            at = this.#readHead(bytes, at);
            break;
          case "field":
          case "trailer":
            at = this.#readLine(bytes, at);
            break;
          case "extension": {
            const end = bytes.indexOf(cr, at);
            const next = end < 0 ? bytes.length : end + 1;
            this.#count(next - at);
            if (bytes.subarray(at, next).includes(lf))
              throw new ReplySyntaxError("the size of a chunk does not end in a line break");
            at = next;
            if (end >= 0) this.#state = "size-end";
            break;
          }
          default:
            this.#readFraming(bytes[at] as number);
            at += 1;
        }
      }
    } finally {
      // Also before an error, so that nothing that came is lost.
      if (bodyEnd > bodyStart) this.#taker.onBody(bytes.subarray(bodyStart, bodyEnd));
    }
    if (this.#state === "over") this.#taker.onEnd();
    return at;
  }

  /** The connection has ended: so has a reply whose end is not marked. Returns whether it is complete. */
  end(): boolean {
    if (this.#state !== "unbounded") return this.#state === "over";
    this.#state = "over";
    this.#taker.onEnd();
    return true;
  }

  /** Reads what is between two chunks at once, if all of it is there and is as usual. Returns where it stopped. */
  #readSize(bytes: Buffer, at: number): number {
    if (bytes[at] !== cr || bytes[at + 1] !== lf) return at;
    const start = at + 2;
    let end = start;
    let size = 0;
    for (; end < start + maxSizeDigits; end += 1) {
      const digit = digitOf[bytes[end] ?? 0] as number;
      if (digit < 0) break;
      size = size * 16 + digit;
    }
    if (end === start || bytes[end] !== cr || bytes[end + 1] !== lf) return at;
    this.#left = size;
    this.#beginChunk();
    return end + 2;
  }

  /** A byte between chunks. */
  #readFraming(byte: number): void {
    switch (this.#state) {
      case "size": {
        const digit = digitOf[byte] as number;
        if (digit >= 0) {
          this.#digits += 1;
          if (this.#digits > maxSizeDigits) throw new ReplySyntaxError("the size of a chunk is too large");
          this.#left = this.#left * 16 + digit;
          return;
        }
        if (this.#digits === 0) throw new ReplySyntaxError("a chunk has no size");
        if (byte === cr) this.#state = "size-end";
        else if (byte === semicolon) this.#state = "extension";
        else throw new ReplySyntaxError("the size of a chunk is not a number");
        return;
      }
      case "size-end":
        if (byte !== lf) throw new ReplySyntaxError("the size of a chunk does not end in a line break");
        this.#beginChunk();
        return;
      case "chunk-cr":
        if (byte !== cr) throw new ReplySyntaxError("a chunk is longer than its size");
        this.#state = "chunk-lf";
        return;
      default:
        if (byte !== lf) throw new ReplySyntaxError("a chunk does not end in a line break");
        this.#awaitChunk();
    }
  }

  #awaitChunk(): void {
    this.#state = "size";
    this.#left = 0;
    this.#digits = 0;
  }

  /** The size is known. */
  #beginChunk(): void {
    this.#state = this.#left === 0 ? "trailer" : "chunk";
    this.#headBytes = 0;
  }

  /** Reads a head at once if all of it has come, otherwise line by line. Returns where it stopped. */
  #readHead(bytes: Buffer, at: number): number {
    const end = this.#line === "" ? bytes.indexOf("\r\n\r\n", at) : -1;
    if (end < 0) return this.#readLine(bytes, at);
    const text = bytes.toString("latin1", at, end);
    // Empty lines before it are skipped one by one.
    if (!text.startsWith("H") || /[^\r]\n/.test(text)) return this.#readLine(bytes, at);
    this.#count(end + 4 - at);
    for (const line of text.split("\r\n")) this.#takeLine(line);
    this.#endHead();
    return end + 4;
  }

  /** Reads up to the end of a line, or all. Returns where it stopped. */
  #readLine(bytes: Buffer, at: number): number {
    const end = bytes.indexOf(lf, at);
    const next = end < 0 ? bytes.length : end + 1;
    this.#count(next - at);
    const piece = bytes.toString("latin1", at, next);
    if (end < 0) {
      this.#line += piece;
      return next;
    }
    const line = this.#line + piece;
    this.#line = "";
    if (!line.endsWith("\r\n")) throw new ReplySyntaxError("a line does not end in CR and LF");
    this.#takeLine(line.slice(0, -2));
    return next;
  }

  #count(bytes: number): void {
    this.#headBytes += bytes;
    if (this.#headBytes > maxHeadBytes)
      throw new ReplySyntaxError(`its head, or what surrounds its chunks, exceeds ${maxHeadBytes} bytes`);
  }

  #takeLine(line: string): void {
    if (this.#state === "trailer") {
      if (line === "") this.#state = "over";
      return;
    }
    if (this.#state === "status") {
      if (line === "") return;
      const [, version, status] = /^HTTP\/1\.([01]) (\d{3})(?: [^\r]*)?$/.exec(line) ?? [];
      if (status === undefined) throw new ReplySyntaxError("it does not begin with the line of a status");
      this.#status = Number(status);
      this.#isOldVersion = version === "0";
      this.#state = "field";
      return;
    }
    if (line === "") {
      this.#endHead();
      return;
    }
    const [, name, value] = /^([\w!#$%&'*+.^`|~-]+):([\t\x20-\x7e\x80-\xff]*)$/.exec(line) ?? [];
    if (name === undefined || value === undefined)
      throw new ReplySyntaxError("it has a line that is not a header");
    this.#fields.push(name.toLowerCase(), value.trim());
  }

  #endHead(): void {
    const fields = this.#fields;
    const status = this.#status;
    if (status < 200) {
      if (status === 101) throw new ReplySyntaxError("it changes the protocol");
      this.#state = "status"; // the final reply follows
      this.#fields = [];
      return;
    }
    const encoding = fieldOf(fields, "transfer-encoding")?.toLowerCase();
    const length = fieldOf(fields, "content-length");
    if (encoding !== undefined && length !== undefined)
      throw new ReplySyntaxError("it has both a length and a transfer encoding");
    if (length !== undefined && !/^\d{1,15}$/.test(length))
      throw new ReplySyntaxError("its length is not a number");
    if (status === 204 || status === 304 || length === "0") this.#state = "over";
    else if (encoding !== undefined && /(?:^|,)[ \t]*chunked$/.test(encoding)) this.#awaitChunk();
    else if (length === undefined) {
      this.#state = "unbounded";
      this.#left = Number.POSITIVE_INFINITY;
    } else {
      this.#left = Number(length);
      this.#state = this.#left === 0 ? "over" : "counted";
    }
    const connection = fieldOf(fields, "connection")?.toLowerCase();
    const isKept = this.#isOldVersion
      ? connection !== undefined && /\bkeep-alive\b/.test(connection)
      : connection === undefined || !/\bclose\b/.test(connection);
    this.#headBytes = 0;
    this.#taker.onHead({ status, fields, keepsConnection: isKept && this.#state !== "unbounded" });
  }
}

/** The value of a field; those of a repeated one are joined, as for all fields that frame a reply. */
export function fieldOf(fields: readonly string[], name: string): string | undefined {
  let value: string | undefined;
  for (let index = 0; index < fields.length; index += 2)
    if (fields[index] === name)
      value = value === undefined ? fields[index + 1] : `${value}, ${fields[index + 1]}`;
  return value;
}
