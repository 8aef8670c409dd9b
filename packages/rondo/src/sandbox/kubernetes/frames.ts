// The frames that the agent in a pod and this side exchange.

const headBytes = 5;
/** The agent sends at most 64 KiB in a frame, and a list of files in one. */
const maxFrameBytes = 16 * 1024 * 1024;

export interface Frame {
  readonly kind: string;
  readonly content: Buffer;
}

export function encodeFrame(kind: string, content: Uint8Array = new Uint8Array()): Buffer {
  const frame = Buffer.allocUnsafe(headBytes + content.length);
  frame.write(kind, 0, 1, "latin1");
  frame.writeUInt32BE(content.length, 1);
  frame.set(content, headBytes);
  return frame;
}

/** Takes bytes as they come and gives whole frames. Throws for a frame that is too large. */
export class FrameReader {
  #parts: Buffer[] = [];
  #bytes = 0;
  #wanted = headBytes;

  *read(bytes: Buffer): Generator<Frame> {
    this.#parts.push(bytes);
    this.#bytes += bytes.length;
    while (this.#bytes >= this.#wanted) {
      const all = Buffer.concat(this.#parts);
      const size = all.readUInt32BE(1);
      if (size > maxFrameBytes)
        throw new Error(`expected a frame of at most ${maxFrameBytes} bytes, got ${size}`);
      this.#wanted = headBytes + size;
      const isWhole = all.length >= this.#wanted;
      const rest = isWhole ? all.subarray(this.#wanted) : all;
      this.#parts = [rest];
      this.#bytes = rest.length;
      if (!isWhole) return;
      const content = all.subarray(headBytes, this.#wanted);
      this.#wanted = headBytes;
      yield { kind: all.toString("latin1", 0, 1), content };
    }
  }
}
