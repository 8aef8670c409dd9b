// The bytes of an answer on the wire: compressed, or split at arbitrary places.

import { isUint8Array } from "node:util/types";
import { constants, createGzip } from "node:zlib";

/** Bytes to write, or a promise to wait for before the next ones. */
export type Piece = Uint8Array | PromiseLike<unknown>;

/** Compresses pieces one by one, so that each can be read as soon as it arrives. */
export async function compress(pieces: readonly Piece[], isWhole: boolean): Promise<Piece[]> {
  const gzip = createGzip();
  let output: Buffer[] = [];
  gzip.on("data", (data: Buffer) => output.push(data));
  const takeOutput = (): Buffer => {
    const taken = Buffer.concat(output);
    output = [];
    return taken;
  };
  const compressed: Piece[] = [];
  try {
    for (const piece of pieces) {
      if (isUint8Array(piece)) {
        gzip.write(piece);
        await new Promise<void>((resolve) => gzip.flush(constants.Z_SYNC_FLUSH, resolve));
        compressed.push(takeOutput());
      } else {
        compressed.push(piece);
      }
    }
    if (!isWhole) return compressed;
    await new Promise((resolve) => gzip.end().once("end", resolve));
    return [...compressed, takeOutput()];
  } finally {
    gzip.close();
  }
}

/** Splits pieces into `size` bytes each, across their boundaries; only a promise makes a shorter one. */
export function* cut(pieces: readonly Piece[], size: number): Generator<Piece> {
  let rest = Buffer.alloc(0);
  for (const piece of pieces) {
    if (isUint8Array(piece)) {
      rest = Buffer.concat([rest, piece]);
      for (; rest.length >= size; rest = rest.subarray(size)) yield rest.subarray(0, size);
    } else {
      if (rest.length > 0) yield rest;
      rest = Buffer.alloc(0);
      yield piece;
    }
  }
  if (rest.length > 0) yield rest;
}
