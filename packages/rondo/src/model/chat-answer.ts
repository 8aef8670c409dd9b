// One answer of the chat-completions API: bytes in, deltas out, synchronously. Detects from the first byte whether
// it is a stream, a whole answer or neither, because content types are unreliable.

import { isPlainObject } from "../error/check.ts";
import { ContextLengthError } from "../error/context-length-error.ts";
import {
  AnswerLimitError,
  EmptyAnswerError,
  ReportedStreamError,
  UnexpectedAnswerError,
} from "../error/model-errors.ts";
import type { AnswerLimits } from "./answer-limits.ts";
import type { ChatStreamReader } from "./chat-stream-reader.ts";
import { ChunkParser } from "./chunk-parser.ts";
import { findContextOverflow } from "./context-overflow.ts";
import { errorMessageOf, excerpt, isErrorReport } from "./error-message.ts";
import { parseJson } from "./parse-json.ts";
import type { ModelDelta } from "./provider.ts";
import { SseReader } from "./sse.ts";

/** What makes deltas of the parsed chunks of an answer. */
export interface AnswerReader extends Pick<ChatStreamReader, "hasTooManyCalls" | "read" | "take" | "end"> {
  /** What it reads, for messages. Default: a chat completion. */
  readonly expected?: string;
  /** Reads a chunk that is an earlier one with another text in a field of its delta. False if it cannot. */
  readText?(field: string, text: string): boolean;
  /** Whether anything of an answer came: text, thinking or a call, even if it is held back. Default: not known. */
  readonly hasContent?: boolean;
  /** Whether a chunk has ended the answer. Undefined where the end of the stream may do that too. */
  readonly isComplete?: boolean;
  /** An answer that came all at once, as a chunk; undefined for what is not one. Default: a chat completion's. */
  toChunk?(whole: unknown): unknown;
}

export interface ChatAnswerSetup {
  readonly endpoint: string;
  /** Removes secrets from the server's messages. Default: removes nothing. */
  readonly hideSecrets?: (text: string) => string;
  /** Called with the first byte of the answer, or its end. */
  readonly createReader: () => AnswerReader;
  /** The reader counts the calls. Default: no limits. */
  readonly limits?: AnswerLimits;
  readonly push: (delta: ModelDelta) => void;
  /** Called once, when the first content has come. Default: nobody listens. */
  readonly onToken?: (() => void) | undefined;
}

/** How many broken frames are reported: a server that sends garbage sends much of it. */
const maxBrokenFrames = 20;

interface Body {
  read(bytes: Uint8Array): void;
  end(): void;
}

export class ChatAnswer {
  readonly #endpoint: string;
  readonly #hideSecrets: (text: string) => string;
  readonly #createReader: () => AnswerReader;
  #createdReader: AnswerReader | undefined;
  readonly #limits: AnswerLimits;
  readonly #push: (delta: ModelDelta) => void;
  #onToken: (() => void) | undefined;
  readonly #parser = new ChunkParser();
  #body: Body | undefined;
  /** The first bytes, for messages about what came instead of an answer. */
  #start: Uint8Array | undefined;
  #text = "";
  #bytes = 0;
  #brokenFrames = 0;
  #hasChunks = false;
  #isWhole = false;
  #isDone = false;
  #isClosed = false;
  #hasBegun = false;

  constructor({ endpoint, hideSecrets, createReader, limits, push, onToken }: ChatAnswerSetup) {
    this.#endpoint = endpoint;
    this.#hideSecrets = hideSecrets ?? ((text) => text);
    this.#createReader = createReader;
    this.#limits = limits ?? noLimits;
    this.#push = push;
    this.#onToken = onToken;
  }

  get #reader(): AnswerReader {
    this.#createdReader ??= this.#createReader();
    return this.#createdReader;
  }

  /** Whether any byte has come, even white space. */
  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  /** The text that has come so far. */
  get text(): string {
    return this.#text;
  }

  /** Takes the next bytes. True if the answer is complete, so that the rest need not be read. */
  read(bytes: Uint8Array): boolean {
    this.#hasBegun = true;
    this.#bytes += bytes.length;
    if (this.#bytes > this.#limits.maxAnswerBytes) throw this.#beyond("maxAnswerBytes");
    if (this.#body) this.#body.read(bytes);
    else this.#begin(bytes);
    if (this.#onToken && this.#reader.hasContent) {
      this.#onToken();
      this.#onToken = undefined;
    }
    this.#pushAll(this.#reader.take());
    if (this.#reader.hasTooManyCalls) throw this.#beyond("maxCallsPerAnswer");
    return this.#isDone;
  }

  /** Ends a complete answer: pushes the last deltas, `finished` among them. */
  end(): void {
    if (!this.#isDone) this.#body?.end();
    if (!this.#hasChunks) throw new EmptyAnswerError(this.#endpoint, this.#head);
    if (this.#reader.isComplete === false) throw new Error("it ended too early");
    this.#isClosed = true;
    const deltas = this.#reader.end({ isCutOff: false, hasEnd: this.#isDone || this.#isWhole });
    const isBeyond = this.#reader.hasTooManyCalls;
    this.#pushAll(isBeyond ? deltas.filter(({ type }) => type !== "finished") : deltas);
    if (isBeyond) throw this.#beyond("maxCallsPerAnswer");
  }

  /** Ends an answer that broke off: pushes what was held back, so that nothing is lost. */
  cutOff(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    const deltas = this.#reader.end({ isCutOff: true, hasEnd: false });
    this.#pushAll(deltas.filter(({ type }) => type !== "finished"));
  }

  /** Pushes what was held back, and returns the error. */
  #beyond(limit: keyof AnswerLimits): AnswerLimitError {
    this.cutOff();
    const max = this.#limits[limit];
    return new AnswerLimitError(this.#endpoint, { limit, max, partialText: this.#text });
  }

  /** Chooses how to read by the first byte that is neither white space nor a part of a byte order mark. */
  #begin(bytes: Uint8Array): void {
    const start = bytes.findIndex((byte) => byte > 0x20 && byte !== 0xef && byte !== 0xbb && byte !== 0xbf);
    if (start < 0) return;
    const rest = bytes.subarray(start);
    this.#start = new Uint8Array(rest.subarray(0, 1_000));
    const first = String.fromCharCode(rest[0] ?? 0);
    if (first === "<") throw this.#unexpected("a web page");
    this.#body = first === "{" || first === "[" ? this.#wholeBody() : new SseReader(this.#takePayload);
    this.#body.read(rest);
  }

  get #head(): string {
    return excerpt(this.#hideSecrets(new TextDecoder().decode(this.#start)));
  }

  #wholeBody(): Body {
    const decoder = new TextDecoder();
    let text = "";
    return {
      read: (bytes) => {
        text += decoder.decode(bytes, { stream: true });
      },
      end: () => this.#takeWhole(text + decoder.decode()),
    };
  }

  #takeWhole(text: string): void {
    const answer = parseJson(text);
    this.#throwIfReported(answer, false);
    const chunk = this.#reader.toChunk ? this.#reader.toChunk(answer) : asChunk(answer);
    if (!chunk) throw this.#unexpected(answer === undefined ? "invalid or truncated JSON" : "something else");
    this.#hasChunks = true;
    this.#isWhole = true;
    this.#reader.read(chunk);
  }

  readonly #takePayload = (payload: string, event: string | undefined): void => {
    const text = payload.trim();
    if (this.#isDone || text === "") return;
    if (text === "[DONE]") {
      this.#isDone = true;
      return;
    }
    let chunk: unknown;
    try {
      chunk = this.#parser.parse(text);
    } catch {
      this.#throwIfReported(text, event === "error");
      this.#brokenFrames += 1;
      if (this.#brokenFrames > maxBrokenFrames) return;
      const message = `A part of the stream from ${this.#endpoint} is not JSON and was skipped: ${excerpt(this.#hideSecrets(text))}`;
      this.#pushAll([...this.#reader.take(), { type: "warning", message }]);
      return;
    }
    const { onlyField } = this.#parser;
    if (onlyField !== undefined && event !== "error" && this.#reader.readText?.(onlyField, this.#parser.text))
      return;
    this.#throwIfReported(chunk, event === "error");
    this.#hasChunks = true;
    this.#reader.read(chunk);
    if (this.#reader.isComplete) this.#isDone = true;
  };

  #pushAll(deltas: readonly ModelDelta[]): void {
    for (const delta of deltas) {
      if (delta.type === "text.delta") this.#text += delta.text;
      this.#push(delta);
    }
  }

  #throwIfReported(value: unknown, isErrorEvent: boolean): void {
    // A failed response of the Responses API has its error inside.
    const { response = value } = (isPlainObject(value) ? value : {}) as { response?: unknown };
    if (!isErrorEvent && !(isPlainObject(response) && isErrorReport(response["error"]))) return;
    this.cutOff();
    const said = this.#hideSecrets(errorMessageOf(response));
    const overflow = findContextOverflow(response);
    if (overflow)
      throw new ContextLengthError(this.#endpoint, { ...overflow, said, partialText: this.#text });
    throw new ReportedStreamError(this.#endpoint, this.#text, said);
  }

  #unexpected(got: string): UnexpectedAnswerError {
    return new UnexpectedAnswerError(this.#endpoint, {
      expected: this.#reader.expected ?? "a chat completion",
      got,
      received: this.#head,
    });
  }
}

const noLimits: AnswerLimits = {
  maxAnswerBytes: Number.POSITIVE_INFINITY,
  maxCallsPerAnswer: Number.POSITIVE_INFINITY,
};

/** A whole chat completion as the one chunk of a stream; undefined if it is not one. */
function asChunk(answer: unknown): Record<string, unknown> | undefined {
  if (!isPlainObject(answer) || !Array.isArray(answer["choices"])) return undefined;
  return { ...answer, choices: answer["choices"].map(asDeltaChoice) };
}

function asDeltaChoice(choice: unknown): unknown {
  if (!isPlainObject(choice) || !isPlainObject(choice["message"])) return choice;
  const { message, ...rest } = choice;
  const calls: unknown = message["tool_calls"];
  if (!Array.isArray(calls)) return { ...rest, delta: message };
  // Only in a stream do calls have an index.
  const indexed = calls.map((call: unknown, index) => (isPlainObject(call) ? { index, ...call } : call));
  return { ...rest, delta: { ...message, tool_calls: indexed } };
}
