// One tool call that is still arriving.

import type { ModelDelta } from "../provider.ts";
import { isClosedJson, JsonScanner } from "./json-scanner.ts";
import { NewText } from "./new-text.ts";
import type { CallPiece } from "./read-piece.ts";

interface PendingCallOptions {
  readonly rawId: string;
  /** Gives the id that the call gets: the one that is wanted if it is free, else one that is made up. */
  readonly claimId: (wanted: string) => string;
  readonly toolNames: readonly string[];
  readonly isCumulative: boolean;
  readonly emit: (delta: ModelDelta) => void;
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
}

export class PendingCall {
  readonly isFromText: boolean;
  /** The id as the server sent it, to recognise further pieces. */
  rawId: string;
  name = "";
  /** A later piece with the same name and nothing else. */
  echo: CallPiece | undefined;
  readonly #options: PendingCallOptions;
  readonly #pieces: string[] = [];
  readonly #scanner = new JsonScanner();
  readonly #news: NewText | undefined;
  #length = 0;
  /** The id that the rest of the program sees; undefined until the call has started. */
  #id: string | undefined;

  constructor(options: PendingCallOptions) {
    this.#options = options;
    this.rawId = options.rawId;
    this.isFromText = options.isFromText ?? false;
    this.#news = options.isCumulative ? new NewText() : undefined;
  }

  get arguments(): string {
    return this.#pieces.join("");
  }

  /** Whether the arguments are a whole object, or a string that holds one. */
  isComplete(): boolean {
    if (this.#scanner.status !== "invalid") return this.#scanner.status === "complete";
    return this.#pieces[0]?.startsWith('"') === true && this.#pieces.at(-1)?.endsWith('"') === true;
  }

  /**
   * Whether a name that comes before any arguments goes on with the name so far: `get_`, then `weather`. It does
   * not when both are names of tools by themselves and the two together are not.
   */
  isNamePiece(name: string): boolean {
    if (this.#length > 0) return !this.#options.toolNames.includes(name);
    const { toolNames } = this.#options;
    const joined = this.name + name;
    if (!toolNames.includes(this.name) || toolNames.some((tool) => tool.startsWith(joined))) return true;
    return !toolNames.includes(name);
  }

  add(piece: CallPiece): void {
    if (this.rawId === "") this.rawId = piece.id;
    if (piece.name !== "" && this.#length === 0 && this.#id === undefined) this.#addName(piece.name);
    else if (this.name === "") this.name = piece.name;
    const text = this.#newArguments(piece);
    if (text === "") return;
    // Arguments without a name: the name may follow, and nothing can start before it.
    if (this.name !== "" && this.#id === undefined) this.#start();
    if (this.#scanner.status === "open") this.#scanner.scan(text, 0, this.#length);
    this.#pieces.push(text);
    this.#length += text.length;
    if (this.#id !== undefined) this.#options.emit({ type: "call.delta", id: this.#id, text });
  }

  end({ isCutOff, hasReason }: CallEnding): void {
    const id = this.#id ?? this.#start();
    const text = this.arguments;
    const mayBeCut = isCutOff || (!hasReason && text !== "");
    const isTruncated = this.isFromText ? this.#options.isCut === true : mayBeCut && !isWholeJson(text);
    this.#options.emit({ type: "call.ended", id, name: this.name, arguments: text, isTruncated });
  }

  /** Says that the call has started, with what has come of it. Its name can no longer change. */
  #start(): string {
    const id = this.#options.claimId(this.rawId);
    this.#id = id;
    this.#options.emit({ type: "call.started", id, name: this.name });
    const text = this.arguments;
    if (text !== "") this.#options.emit({ type: "call.delta", id, text });
    return id;
  }

  #addName(name: string): void {
    if (name === this.name) return;
    // Some servers send the name so far instead of its next piece.
    if (this.name !== "" && name.startsWith(this.name)) this.name = name;
    else if (this.isNamePiece(name)) this.name += name;
  }

  #newArguments({ arguments: text, isWhole }: CallPiece): string {
    if (text === "") return "";
    // An object has no further pieces; a complete call that gets one again is only being repeated.
    if (isWhole && this.#length > 0) return "";
    return this.#news ? this.#news.next(text) : text;
  }
}

function isWholeJson(text: string): boolean {
  if (isClosedJson(text)) return true;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
