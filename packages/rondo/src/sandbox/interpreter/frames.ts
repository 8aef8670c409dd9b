// Takes the messages of a driver out of the output that they come in between.

/** A message of the driver. */
export interface DriverMessage {
  readonly type: string;
  readonly fields: Readonly<Record<string, unknown>>;
  readonly payload: Buffer;
}

const maxHeaderBytes = 16 * 1024;
const newline = 0x0a;

/** Code can write what looks like a message, so a message that is not well-formed is output like any other. */
export class FrameReader {
  readonly #marker: Buffer;
  readonly #maxPayloadBytes: number;
  readonly #onOutput: (bytes: Buffer) => void;
  readonly #onMessage: (message: DriverMessage) => void;
  #rest: Buffer = Buffer.alloc(0);
  /** The message whose payload is still coming. */
  #open: { type: string; fields: Record<string, unknown>; parts: Buffer[]; missing: number } | undefined;

  constructor(options: {
    readonly marker: Buffer;
    readonly maxPayloadBytes: number;
    readonly onOutput: (bytes: Buffer) => void;
    readonly onMessage: (message: DriverMessage) => void;
  }) {
    this.#marker = options.marker;
    this.#maxPayloadBytes = options.maxPayloadBytes;
    this.#onOutput = options.onOutput;
    this.#onMessage = options.onMessage;
  }

  push(chunk: Uint8Array): void {
    let bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    if (this.#rest.length > 0) bytes = Buffer.concat([this.#rest, bytes]);
    this.#rest = Buffer.alloc(0);
    while (bytes.length > 0)
      bytes = this.#open === undefined ? this.#readHeader(bytes) : this.#readPayload(bytes);
  }

  /** Returns what is left to look at. */
  #readHeader(bytes: Buffer): Buffer {
    const start = bytes.indexOf(this.#marker);
    if (start < 0) {
      const held = partialMarker(bytes, this.#marker);
      this.#output(bytes.subarray(0, bytes.length - held));
      return this.#keep(bytes.subarray(bytes.length - held));
    }
    this.#output(bytes.subarray(0, start));
    const header = bytes.subarray(start + this.#marker.length);
    const end = header.subarray(0, maxHeaderBytes).indexOf(newline);
    if (end < 0 && header.length < maxHeaderBytes) return this.#keep(bytes.subarray(start));
    const fields = end < 0 ? undefined : parseHeader(header.subarray(0, end), this.#maxPayloadBytes);
    if (fields === undefined) {
      this.#output(bytes.subarray(start, start + this.#marker.length));
      return header;
    }
    const { type, bytes: missing } = fields;
    this.#open = { type, fields, parts: [], missing };
    if (missing === 0) this.#finish();
    return header.subarray(end + 1);
  }

  #readPayload(bytes: Buffer): Buffer {
    const open = this.#open;
    if (open === undefined) return bytes;
    const part = bytes.subarray(0, open.missing);
    open.parts.push(part);
    open.missing -= part.length;
    if (open.missing === 0) this.#finish();
    return bytes.subarray(part.length);
  }

  #finish(): void {
    const open = this.#open;
    this.#open = undefined;
    if (open !== undefined)
      this.#onMessage({ type: open.type, fields: open.fields, payload: Buffer.concat(open.parts) });
  }

  #output(bytes: Buffer): void {
    if (bytes.length > 0) this.#onOutput(bytes);
  }

  #keep(bytes: Buffer): Buffer {
    this.#rest = bytes;
    return Buffer.alloc(0);
  }
}

/** How many bytes at the end may be the beginning of a marker. */
function partialMarker(bytes: Buffer, marker: Buffer): number {
  for (let length = Math.min(marker.length - 1, bytes.length); length > 0; length--)
    if (bytes.subarray(bytes.length - length).equals(marker.subarray(0, length))) return length;
  return 0;
}

function parseHeader(
  bytes: Buffer,
  maxPayloadBytes: number,
): (Record<string, unknown> & { type: string; bytes: number }) | undefined {
  try {
    const header: unknown = JSON.parse(bytes.toString("utf8"));
    if (typeof header !== "object" || header === null) return undefined;
    const { type, bytes: length } = header as Record<string, unknown>;
    const isValid =
      typeof type === "string" &&
      Number.isInteger(length) &&
      (length as number) >= 0 &&
      (length as number) <= maxPayloadBytes;
    return isValid ? (header as ReturnType<typeof parseHeader>) : undefined;
  } catch {
    return undefined;
  }
}
