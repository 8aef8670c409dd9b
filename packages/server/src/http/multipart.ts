// Reads a `multipart/form-data` body as it arrives: fields are short and kept, the content of the file is passed on
// piece by piece. Each byte is looked at a fixed number of times, whatever the client sends.

import type { IncomingMessage } from "node:http";
import { ApiError, invalidRequest } from "../protocol/api-error.ts";
import { ClientGone } from "./body.ts";

export interface FormLimits {
  /** The largest file. */
  readonly fileBytes: number;
  /** Which setting that is, for the error. */
  readonly setting: string;
}

/** The file of a form. The fields are complete once the content was read to its end. */
export interface FormFile {
  /** As the client wrote it: any text. */
  readonly filename: string;
  readonly content: AsyncGenerator<Uint8Array, void>;
  /** The other fields of the form, by their names. */
  readonly fields: ReadonlyMap<string, string>;
  /** Discards what was not read. The form must be closed. */
  readonly close: () => Promise<void>;
}

const maxHeaderBytes = 16_384;
const maxFieldBytes = 65_536;
const maxParts = 32;
const lineEnd = Buffer.from("\r\n");
const headerEnd = Buffer.from("\r\n\r\n");

/** Whether the body is a form. */
export function isForm({ headers }: IncomingMessage): boolean {
  return /^multipart\/form-data\b/i.test(headers["content-type"] ?? "");
}

/**
 * The file in the field `file`, which a form must have once; what follows it is read with its content. Throws an
 * `ApiError`, here or while the content is read: 400, 413 or 415.
 */
export async function readForm(incoming: IncomingMessage, limits: FormLimits): Promise<FormFile> {
  const reader = new FormReader(incoming, boundaryOf(incoming), limits);
  const close = () => reader.close();
  try {
    const filename = await reader.findFile();
    return { filename, content: reader.content(), fields: reader.fields, close };
  } catch (error) {
    await close();
    throw error;
  }
}

function boundaryOf({ headers }: IncomingMessage): string {
  const type = headers["content-type"] ?? "";
  const [, quoted, plain] = /;\s*boundary=(?:"([^"]{1,200})"|([^\s;"]{1,200}))/i.exec(type) ?? [];
  const boundary = quoted ?? plain;
  if (/^multipart\/form-data\b/i.test(type) && boundary !== undefined) return boundary;
  throw new ApiError(
    `Expected a form with a file (multipart/form-data with a boundary), but the Content-Type is ${JSON.stringify(type.slice(0, 200))}. Let the client library set the header.`,
    { status: 415, code: "unsupported_media_type" },
  );
}

interface PartHead {
  readonly name: string;
  readonly filename: string | undefined;
}

class FormReader {
  readonly fields = new Map<string, string>();
  readonly #incoming: IncomingMessage;
  readonly #chunks: AsyncGenerator<Buffer, void>;
  readonly #delimiter: Buffer;
  readonly #limits: FormLimits;
  /** What came and was not used yet. It starts with a line end, so that the first delimiter looks like the others. */
  #rest: Buffer = lineEnd;
  #parts = 0;

  constructor(incoming: IncomingMessage, boundary: string, limits: FormLimits) {
    this.#incoming = incoming;
    this.#chunks = chunksOf(incoming);
    this.#delimiter = Buffer.from(`\r\n--${boundary}`);
    this.#limits = limits;
  }

  /** Reads up to the content of the file. Returns its name. */
  async findFile(): Promise<string> {
    for await (const _ of this.#untilDelimiter()); // the preamble
    while (true) {
      const part = await this.#nextPart();
      if (!part)
        throw invalidRequest(
          "file",
          'file: expected a file in the form, got none. Send it as the field "file", with a filename.',
        );
      if (part.name === "file" && part.filename !== undefined) return part.filename;
      await this.#readField(part.name);
    }
  }

  /** The content of the file; then reads the fields after it. */
  async *content(): AsyncGenerator<Uint8Array, void> {
    const { fileBytes, setting } = this.#limits;
    let bytes = 0;
    for await (const piece of this.#untilDelimiter()) {
      bytes += piece.length;
      if (bytes > fileBytes)
        throw new ApiError(
          `The file is larger than ${fileBytes} bytes, this server's limit (${setting}). Send a smaller one.`,
          { status: 413, code: "file_too_large", param: "file" },
        );
      yield piece;
    }
    for (let part = await this.#nextPart(); part; part = await this.#nextPart()) {
      if (part.name === "file") throw invalidRequest("file", "file: expected one file, got several.");
      await this.#readField(part.name);
    }
  }

  async close(): Promise<void> {
    await this.#chunks.return();
    this.#incoming.on("error", () => {}).resume();
  }

  async #readField(name: string): Promise<void> {
    const pieces: Uint8Array[] = [];
    let bytes = 0;
    for await (const piece of this.#untilDelimiter()) {
      bytes += piece.length;
      if (bytes > maxFieldBytes) throw broken(`a field is longer than ${maxFieldBytes} bytes`);
      pieces.push(piece);
    }
    this.fields.set(name, Buffer.concat(pieces).toString("utf8"));
  }

  /** The headers of the next part, after a delimiter; undefined at the end of the form. */
  async #nextPart(): Promise<PartHead | undefined> {
    while (this.#rest.length < 2) await this.#more();
    if (this.#rest.subarray(0, 2).toString("latin1") === "--") return undefined;
    this.#parts += 1;
    if (this.#parts > maxParts) throw broken(`it has more than ${maxParts} parts`);
    let end = this.#rest.indexOf(headerEnd);
    while (end < 0) {
      const searched = Math.max(0, this.#rest.length - headerEnd.length + 1);
      if (this.#rest.length > maxHeaderBytes)
        throw broken(`the headers of a part are longer than ${maxHeaderBytes} bytes`);
      await this.#more();
      end = this.#rest.indexOf(headerEnd, searched);
    }
    const head = this.#rest.subarray(0, end).toString("utf8");
    this.#rest = this.#rest.subarray(end + headerEnd.length);
    return readHead(head);
  }

  /** The bytes before the next delimiter, which is read too. */
  async *#untilDelimiter(): AsyncGenerator<Uint8Array, void> {
    while (true) {
      const at = this.#rest.indexOf(this.#delimiter);
      if (at >= 0) {
        const last = this.#rest.subarray(0, at);
        this.#rest = this.#rest.subarray(at + this.#delimiter.length);
        if (last.length > 0) yield last;
        return;
      }
      // The end may be the beginning of a delimiter.
      const safe = this.#rest.length - this.#delimiter.length + 1;
      if (safe > 0) {
        const piece = this.#rest.subarray(0, safe);
        this.#rest = this.#rest.subarray(safe);
        yield piece;
      }
      await this.#more();
    }
  }

  async #more(): Promise<void> {
    const { done, value } = await this.#chunks.next();
    if (done) throw broken("it ends too early");
    this.#rest = this.#rest.length === 0 ? value : Buffer.concat([this.#rest, value]);
  }
}

async function* chunksOf(incoming: IncomingMessage): AsyncGenerator<Buffer, void> {
  try {
    // Not destroyed: a reply that rejects the form needs the connection.
    yield* incoming.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>;
  } catch (error) {
    throw new ClientGone("The client disconnected before its form was complete.", { cause: error });
  }
}

function readHead(text: string): PartHead {
  const disposition = /^content-disposition:(.*)$/im.exec(text)?.[1] ?? "";
  const name = parameter(disposition, "name");
  if (name === undefined) throw broken("a part has no name");
  return { name, filename: extended(disposition) ?? parameter(disposition, "filename") };
}

/** A parameter as browsers and client libraries write it: `"`, CR and LF are percent-encoded, or escaped by `\`. */
function parameter(disposition: string, name: string): string | undefined {
  const found = new RegExp(`;\\s*${name}=(?:"((?:[^"\\\\]|\\\\.)*)"|([^\\s;"]+))`, "i").exec(disposition);
  if (!found) return undefined;
  const text = found[1] ?? found[2] ?? "";
  return text
    .replace(/\\(["\\])/g, "$1")
    .replace(/%22/g, '"')
    .replace(/%0D/gi, "\r")
    .replace(/%0A/gi, "\n");
}

/** `filename*=UTF-8''…`, if it can be read. */
function extended(disposition: string): string | undefined {
  const encoded = /;\s*filename\*=utf-8''([^\s;]+)/i.exec(disposition)?.[1];
  if (encoded === undefined) return undefined;
  try {
    return decodeURIComponent(encoded);
  } catch {
    return undefined;
  }
}

function broken(why: string): ApiError {
  return invalidRequest(null, `The form cannot be read: ${why}.`, "invalid_form");
}
