// Reads the JSON body of a request, with a limit that holds after decompression too, and errors that explain the fault.

import { isUtf8 } from "node:buffer";
import { createHash } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import { ApiError, invalidRequest } from "../protocol/api-error.ts";
import { idempotencyKey } from "./idempotency-key.ts";

const unzip = promisify(gunzip);

/** Thrown when the client disconnects before its request is complete. Nobody is left to reply to. */
export class ClientGone extends Error {
  override readonly name = "ClientGone";
}

/** Counts the bytes of a body as they arrive. Throws when there are too many. */
export interface BodyMeter {
  addBytes(count: number): void;
}

/** A JSON body, parsed. */
export interface JsonBody {
  readonly value: unknown;
  /** As it came, for routes that read it: the others keep nothing of it, because a reply may take hours. */
  readonly text?: string | undefined;
  /** Identifies the text of a request with an Idempotency-Key. */
  readonly fingerprint?: string | undefined;
}

export interface ReadOptions {
  readonly limitBytes: number;
  /** Counts the body as it is read. Default: nothing does. */
  readonly meter?: BodyMeter | undefined;
  /** Whether the text is wanted too. Default: false. */
  readonly keepsText?: boolean | undefined;
}

/** The JSON body. Throws an `ApiError`: 400, 413 or 415, and what the meter throws. */
export async function readJson(
  incoming: IncomingMessage,
  { limitBytes, meter, keepsText = false }: ReadOptions,
): Promise<JsonBody> {
  checkType(incoming.headers["content-type"]);
  const isCompressed = checkEncoding(incoming.headers["content-encoding"]);
  if (Number(incoming.headers["content-length"] ?? 0) > limitBytes) throw tooLarge(limitBytes);
  const chunks: Buffer[] = [];
  await readChunks(incoming, chunks, limitBytes, meter);
  let bytes = chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks);
  chunks.length = 0; // the listeners that filled it live on
  if (isCompressed) {
    bytes = await decompress(bytes, limitBytes);
    meter?.addBytes(bytes.length);
  }
  const { text, value } = parseJson(bytes);
  const hasKey = incoming.headers[idempotencyKey] !== undefined;
  return { value, ...(keepsText && { text }), ...(hasKey && { fingerprint: hashOf(text) }) };
}

function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("base64url");
}

/** Whether the request has a body. */
export function hasBody({ headers }: IncomingMessage): boolean {
  const { "content-length": length, "transfer-encoding": encoding } = headers;
  return encoding !== undefined || Number(length ?? 0) > 0;
}

function checkType(type: string | undefined): void {
  // `application/json` alone is by far the most common.
  if (type === undefined || type === "application/json") return;
  const [name = "", ...parameters] = type.toLowerCase().split(";");
  const charset = parameters.map((parameter) => /^\s*charset\s*=\s*"?([^"\s]+)"?\s*$/.exec(parameter)?.[1]);
  const isJson = /^application\/(?:[\w.-]+\+)?json$/.test(name.trim());
  if (isJson && charset.every((set) => set === undefined || /^(?:utf-?8|us-ascii)$/.test(set))) return;
  throw unsupported(
    `Expected a body of type application/json in UTF-8, but the Content-Type is "${type}". Send the header Content-Type: application/json.`,
  );
}

function checkEncoding(encoding: string | undefined): boolean {
  if (encoding === undefined) return false;
  const name = encoding.trim().toLowerCase();
  if (name === "gzip" || name === "x-gzip") return true;
  if (name === "identity" || name === "") return false;
  throw unsupported(
    `Expected an uncompressed or gzipped body, but the Content-Encoding is "${encoding}". Send it without compression.`,
  );
}

/** Fills `chunks` and resolves with nothing: the listeners keep what the promise gives for as long as the request lives. */
function readChunks(
  incoming: IncomingMessage,
  chunks: Buffer[],
  limitBytes: number,
  meter: BodyMeter | undefined,
): Promise<void> {
  return new Promise((resolve, reject) => {
    let bytes = 0;
    let isSettled = false;
    const onGone = () => {
      if (isSettled) return;
      isSettled = true;
      reject(new ClientGone("The client disconnected before its body was complete."));
    };
    if (incoming.destroyed) return onGone();
    // They stay: later errors of the socket need a listener. The rest of a body that is too large is discarded, and the
    // connection is closed if it does not end soon.
    incoming.on("error", onGone).on("close", onGone);
    incoming.on("data", (chunk: Buffer) => {
      if (isSettled) return;
      bytes += chunk.length;
      chunks.push(chunk);
      try {
        if (bytes > limitBytes) throw tooLarge(limitBytes);
        meter?.addBytes(chunk.length);
      } catch (error) {
        isSettled = true;
        chunks.length = 0;
        reject(error);
      }
    });
    incoming.on("end", () => {
      isSettled = true;
      resolve();
    });
  });
}

async function decompress(compressed: Buffer, limitBytes: number): Promise<Buffer> {
  try {
    return await unzip(compressed, { maxOutputLength: limitBytes });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ERR_BUFFER_TOO_LARGE") throw tooLarge(limitBytes, error);
    throw badJson("The body is not gzip, but the Content-Encoding is.");
  }
}

/** Reads JSON. Throws a 400 that says where it is wrong; `what` it is begins the message. */
export function parseJson(bytes: Buffer, what = "The body"): { text: string; value: unknown } {
  if (!isUtf8(bytes)) throw badJson(`${what} is not valid UTF-8.`);
  const text = bytes.toString("utf8", bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0);
  try {
    return { text, value: JSON.parse(text) };
  } catch (error) {
    if (text.trim() === "") throw badJson(`${what} is empty. Expected a JSON object.`);
    throw badJson(`${what} is not valid JSON: ${syntaxFault(text, (error as SyntaxError).message)}.`);
  }
}

/** The runtime's message without its repetitions; truncated JSON is reported as such. */
function syntaxFault(text: string, message: string): string {
  const position = / at position (\d+)/.exec(message)?.[1];
  if (message === "Unexpected end of JSON input" || Number(position) >= text.length)
    return `the JSON ends too early (line ${countLines(text)})`;
  const short = message.replace(/ in JSON(?= at )| is not valid JSON$/, "").replace(/ at position \d+/, "");
  return `${short.charAt(0).toLowerCase()}${short.slice(1)}`;
}

function countLines(text: string): number {
  let lines = 1;
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) lines += 1;
  return lines;
}

function badJson(message: string): ApiError {
  return invalidRequest(null, message, "invalid_json");
}

function tooLarge(limitBytes: number, cause?: unknown): ApiError {
  const message = `The body is larger than ${limitBytes} bytes, this server's limit (limits.bodyBytes).`;
  return new ApiError(message, {
    status: 413,
    code: "request_too_large",
    cause,
  });
}

function unsupported(message: string): ApiError {
  return new ApiError(message, {
    status: 415,
    code: "unsupported_media_type",
  });
}
