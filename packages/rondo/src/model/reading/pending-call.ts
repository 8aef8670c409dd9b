// One tool call that is still arriving.

import { parseJson } from "../parse-json.ts";
import type { CollectorOptions } from "./call-collector.ts";
import { isClosedJson, JsonScanner } from "./json-scanner.ts";
import { NewText } from "./new-text.ts";
import { type CallPiece, maxNameLength } from "./read-piece.ts";

interface PendingCallOptions extends CollectorOptions {
  readonly rawId: string;
  /** Gives the id that the call gets: the one that is wanted if it is free, else one that is made up. */
  readonly claimId: (wanted: string) => string;
  readonly isFromText?: boolean;
  /** The text that it was found in ended before it did. */
  readonly isCut?: boolean;
}

/** How the stream ended. */
export interface CallEnding {
  /** The length limit or the end of the connection has cut it off. */
  readonly isCutOff: boolean;
  /** Whether the server said why it ended. */
  readonly hasReason: boolean;
  /** Whether the server said that it ended: by `[DONE]`, or because the answer came as a whole. */
  readonly hasEnd: boolean;
}

export class PendingCall {
  readonly isFromText: boolean;
  /** The id as the server sent it, to recognise further pieces. */
  rawId: string;
  name = "";
  /** A later piece with the same name and nothing else. */
  echo: CallPiece | undefined;
  readonly #options: PendingCallOptions;
  readonly #scanner = new JsonScanner();
  readonly #news: NewText | undefined;
  /** Grown piece by piece: V8 joins the pieces when the whole is looked at, and keeps it joined. */
  #text = "";
  #firstPiece = "";
  #lastPiece = "";
  #canonical: string | undefined;
  /** The id that the rest of the program sees; undefined until the call has started. */
  #id: string | undefined;

  constructor(options: PendingCallOptions) {
    this.#options = options;
    this.rawId = options.rawId;
    this.isFromText = options.isFromText ?? false;
    this.#news = options.isCumulative ? new NewText() : undefined;
  }

  get arguments(): string {
    return this.#text;
  }

  /** Whether the arguments are a whole object, or a string that holds one. */
  isComplete(): boolean {
    if (this.#scanner.status !== "invalid") return this.#scanner.status === "complete";
    return this.#firstPiece.startsWith('"') && this.#lastPiece.endsWith('"');
  }

  /** Whether a call that was found in text says the same; `canonical` is its arguments as `canonicalJson` gives them. */
  isSame(name: string, canonical: string): boolean {
    if (name !== this.name) return false;
    // Only what is complete is worked out: it does not change any more.
    if (!this.isComplete()) return this.#text === canonical;
    this.#canonical ??= canonicalJson(this.#text);
    return this.#canonical === canonical;
  }

  /**
   * Whether a name that comes before any arguments goes on with the name so far: `get_`, then `weather`. It does
   * not when both are names of tools by themselves and the two together are not.
   */
  isNamePiece(name: string): boolean {
    if (this.#text !== "") return !this.#options.toolNames.includes(name);
    const { toolNames } = this.#options;
    const joined = this.name + name;
    if (!toolNames.includes(this.name) || toolNames.some((tool) => tool.startsWith(joined))) return true;
    return !toolNames.includes(name);
  }

  add(piece: CallPiece): void {
    if (this.rawId === "") this.rawId = piece.id;
    if (piece.name !== "" && this.#text === "" && this.#id === undefined) this.#addName(piece.name);
    else if (this.name === "") this.name = piece.name;
    const text = this.#newArguments(piece);
    if (text === "") return;
    // Arguments without a name: the name may follow, and nothing can start before it.
    if (this.name !== "" && this.#id === undefined) this.#start();
    if (this.#scanner.status === "open") this.#scanner.scan(text, 0, this.#text.length);
    if (this.#text === "") this.#firstPiece = text;
    this.#lastPiece = text;
    this.#canonical = undefined;
    this.#text += text;
    if (this.#id !== undefined) this.#options.emit({ type: "call.delta", id: this.#id, text });
  }

  end({ isCutOff, hasReason, hasEnd }: CallEnding): void {
    const id = this.#id ?? this.#start();
    const text = this.#text;
    // Arguments that never came are no arguments only if the server has said that this was all.
    const mayBeCut = isCutOff || (!hasReason && (text !== "" || !hasEnd));
    const isTruncated = this.isFromText ? this.#options.isCut === true : mayBeCut && !isWholeJson(text);
    this.#options.emit({ type: "call.ended", id, name: this.name, arguments: text, isTruncated });
  }

  /** Says that the call has started, with what has come of it. Its name can no longer change. */
  #start(): string {
    const id = this.#options.claimId(this.rawId);
    this.#id = id;
    this.#options.emit({ type: "call.started", id, name: this.name });
    if (this.#text !== "") this.#options.emit({ type: "call.delta", id, text: this.#text });
    return id;
  }

  #addName(name: string): void {
    if (name === this.name) return;
    // Some servers send the name so far instead of its next piece.
    if (this.name !== "" && name.startsWith(this.name)) this.name = name;
    else if (this.name.length < maxNameLength && this.isNamePiece(name)) this.name += name;
  }

  #newArguments({ arguments: text, isWhole }: CallPiece): string {
    if (text === "") return "";
    // An object has no further pieces; a complete call that gets one again is only being repeated.
    if (isWhole && this.#text !== "") return "";
    return this.#news ? this.#news.next(text) : text;
  }
}

/** Arguments in one spelling, to compare them. What is not proper JSON stays as it is. */
export function canonicalJson(text: string): string {
  if (!isClosedJson(text)) return text;
  try {
    return JSON.stringify(JSON.parse(text));
  } catch {
    return text;
  }
}

function isWholeJson(text: string): boolean {
  return isClosedJson(text) || parseJson(text) !== undefined;
}
