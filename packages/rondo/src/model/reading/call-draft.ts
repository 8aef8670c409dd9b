// One tool call that is still arriving.

import { parseJson } from "../parse-json.ts";
import type { CollectorOptions } from "./call-collector.ts";
import { isClosedJson, JsonScanner } from "./json-scanner.ts";
import { NewText } from "./new-text.ts";
import { type CallPiece, maxNameLength } from "./read-piece.ts";

interface CallDraftOptions extends CollectorOptions {
  readonly rawId: string;
  /** Returns the id of the call: the wanted one if it is free, else a generated one. */
  readonly claimId: (wanted: string) => string;
  readonly isFromText?: boolean;
  /** Whether the text ended before the call did. */
  readonly isCut?: boolean;
}

/** How the stream ended. */
export interface CallEnding {
  /** Cut off by the length limit or the end of the connection. */
  readonly isCutOff: boolean;
  /** Whether the server said why it ended. */
  readonly hasReason: boolean;
  /** Whether the server marked the end: by `[DONE]`, or because the answer came whole. */
  readonly hasEnd: boolean;
}

export class CallDraft {
  readonly isFromText: boolean;
  /** The id as the server sent it, to recognise further pieces. */
  rawId: string;
  name = "";
  /** A later piece with the same name and nothing else. */
  echo: CallPiece | undefined;
  readonly #options: CallDraftOptions;
  /** Scans the arguments as far as somebody asked whether they are complete: in a proper stream nobody does. */
  #scanner: JsonScanner | undefined;
  #scanned = 0;
  readonly #news: NewText | undefined;
  /** Concatenated piece by piece: V8 flattens it when it is read, and keeps it flat. */
  #text = "";
  #firstPiece = "";
  #lastPiece = "";
  #canonical: string | undefined;
  /** The id of the emitted call; undefined until it has started. */
  #id: string | undefined;

  constructor(options: CallDraftOptions) {
    this.#options = options;
    this.rawId = options.rawId;
    this.isFromText = options.isFromText ?? false;
    this.#news = options.isCumulative ? new NewText() : undefined;
  }

  get arguments(): string {
    return this.#text;
  }

  /** Whether the arguments are a complete object, or a string that contains one. */
  isComplete(): boolean {
    const status = this.#scan();
    if (status !== "invalid") return status === "complete";
    return this.#firstPiece.startsWith('"') && this.#lastPiece.endsWith('"');
  }

  /** Whether a call that was found in text is the same; `canonical` is its arguments by `canonicalJson`. */
  isSame(name: string, canonical: string): boolean {
    if (name !== this.name) return false;
    // Cached only if complete: then it does not change any more.
    if (!this.isComplete()) return this.#text === canonical;
    this.#canonical ??= canonicalJson(this.#text);
    return this.#canonical === canonical;
  }

  /**
   * Whether a name that comes before any arguments continues the name so far: `get_`, then `weather`. It does not if
   * both are names of tools and their concatenation is not.
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
    // Arguments without a name: the name may follow, and the call cannot start before it.
    if (this.name !== "" && this.#id === undefined) this.#start();
    if (this.#text === "") this.#firstPiece = text;
    this.#lastPiece = text;
    this.#canonical = undefined;
    this.#text += text;
    if (this.#id !== undefined) this.#options.emit({ type: "call.delta", id: this.#id, text });
  }

  end({ isCutOff, hasReason, hasEnd }: CallEnding): void {
    const id = this.#id ?? this.#start();
    const text = this.#text;
    // Missing arguments mean "none" only if the server marked the end.
    const mayBeCut = isCutOff || (!hasReason && (text !== "" || !hasEnd));
    const isTruncated = this.isFromText ? this.#options.isCut === true : mayBeCut && !isWholeJson(text);
    const doubt = this.#options.isTraced && this.isFromText ? { isFromText: true } : undefined;
    this.#options.emit({ type: "call.ended", id, name: this.name, arguments: text, isTruncated, ...doubt });
  }

  /** Emits the start of the call, with its arguments so far. Its name can no longer change. */
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

  #scan(): JsonScanner["status"] {
    this.#scanner ??= new JsonScanner();
    const from = this.#scanned;
    this.#scanned = this.#text.length;
    if (this.#scanner.status === "open" && from < this.#scanned)
      this.#scanner.scan(this.#text.slice(from), 0, from);
    return this.#scanner.status;
  }

  #newArguments({ arguments: text, isWhole }: CallPiece): string {
    if (text === "") return "";
    // An object has no further pieces: another one only repeats it.
    if (isWhole && this.#text !== "") return "";
    return this.#news ? this.#news.next(text) : text;
  }
}

/** Arguments in one canonical form, for comparison. Invalid JSON is returned unchanged. */
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
