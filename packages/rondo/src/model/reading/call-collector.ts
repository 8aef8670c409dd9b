// Assembles tool calls from their pieces. Servers disagree on what identifies a call, so its index, its id, its name
// and whether it is complete all count.

import type { ModelDelta } from "../provider.ts";
import { CallDraft, type CallEnding, canonicalJson } from "./call-draft.ts";
import type { TextCall } from "./dialects/dialect.ts";
import { type CallPiece, readPiece } from "./read-piece.ts";

export interface CollectorOptions {
  /** The offered tools: they distinguish a piece of a name from the name of another call. */
  readonly toolNames: readonly string[];
  /** Whether each piece has all the arguments so far. */
  readonly isCumulative: boolean;
  /** How many calls are accepted. Default: no limit. */
  readonly maxCalls?: number | undefined;
  /** Whether the end of a call says that it was found in text. Default: false. */
  readonly isTraced?: boolean;
  readonly emit: (delta: ModelDelta) => void;
}

export class CallCollector {
  readonly #options: CollectorOptions;
  readonly #calls: CallDraft[] = [];
  /** The latest call of each index. */
  readonly #byIndex = new Map<number | string, CallDraft>();
  /** The latest call of each id, as the server sent it. */
  readonly #byRawId = new Map<string, CallDraft>();
  readonly #ids = new Set<string>();
  /** The calls from `tool_calls`, as opposed to those found in text. */
  readonly #sent: CallDraft[] = [];
  #hasTooMany = false;

  constructor(options: CollectorOptions) {
    this.#options = options;
  }

  get count(): number {
    return this.#calls.length;
  }

  /** Whether there were too many calls. From then on none is accepted. */
  get hasTooMany(): boolean {
    return this.#hasTooMany;
  }

  /** Takes the `tool_calls` of one chunk. Returns how many entries were not understood. */
  addPieces(entries: readonly unknown[]): number {
    const named = new Set<CallDraft>();
    let skipped = 0;
    for (const entry of entries) {
      const piece = readPiece(entry);
      if (!piece) {
        skipped++;
        continue;
      }
      const known = this.#callFor(piece, named);
      if (known && this.#repeats(piece, known)) {
        if (piece.arguments.trim() === "") known.echo = piece;
        continue;
      }
      const call = known ?? this.#create(piece);
      if (!call) break;
      if (piece.index !== undefined) this.#byIndex.set(piece.index, call);
      if (piece.name !== "") named.add(call);
      this.#add(call, piece);
    }
    return skipped;
  }

  /** Takes a call that was found in text, unless the server sent the same call in `tool_calls`. */
  addTextCall({ name, arguments: text, isCut }: TextCall): void {
    const canonical = this.#sent.length > 0 ? canonicalJson(text) : text;
    if (this.#sent.some((call) => call.isSame(name, canonical))) return;
    const piece: CallPiece = { index: undefined, id: "", name, arguments: text, isWhole: true };
    this.#create(piece, { isFromText: true, isCut })?.add(piece);
  }

  /** Ends all calls, in the order in which they began. */
  end(ending: CallEnding): void {
    for (const call of this.#calls) call.end(ending);
  }

  /** Undefined when there are too many. */
  #create({ id }: CallPiece, origin?: { isFromText: boolean; isCut: boolean }): CallDraft | undefined {
    if (this.#calls.length >= (this.#options.maxCalls ?? Number.POSITIVE_INFINITY)) this.#hasTooMany = true;
    if (this.#hasTooMany) return undefined;
    const call = new CallDraft({
      // A duplicate id would make the conversation invalid.
      rawId: id,
      claimId: (wanted) => this.#claimId(wanted),
      ...this.#options,
      ...origin,
    });
    this.#calls.push(call);
    if (!call.isFromText) this.#sent.push(call);
    return call;
  }

  #add(call: CallDraft, piece: CallPiece): void {
    call.add(piece);
    const { rawId } = call;
    if (rawId !== "" && (call === this.#sent.at(-1) || !this.#byRawId.has(rawId)))
      this.#byRawId.set(rawId, call);
  }

  #claimId(wanted: string): string {
    let id = wanted;
    while (id === "" || this.#ids.has(id)) id = makeId();
    this.#ids.add(id);
    return id;
  }

  /** The call that the piece continues; undefined if it begins another. */
  #callFor(piece: CallPiece, named: ReadonlySet<CallDraft>): CallDraft | undefined {
    const call = this.#candidate(piece);
    if (!call || call.isFromText) return undefined;
    const hasOtherId = piece.id !== "" && call.rawId !== "" && piece.id !== call.rawId;
    // Two named entries in one list are two calls, unless they have the same id.
    if (piece.name !== "" && named.has(call) && (hasOtherId || piece.id === "")) return undefined;
    if (hasOtherId) return this.#isJitter(piece, call) ? call : undefined;
    if (piece.name === "" || call.name === "") return this.#afterEcho(piece, call) ?? call;
    if (call.isComplete()) return this.#repeats(piece, call) ? call : undefined;
    if (piece.name === call.name || call.isNamePiece(piece.name)) return call;
    return undefined;
  }

  /** The call that the piece belongs to by its index or id, or else the latest. */
  #candidate({ index, id, name }: CallPiece): CallDraft | undefined {
    const sameIndex = index === undefined ? undefined : this.#byIndex.get(index);
    if (sameIndex) return sameIndex;
    // A new index with a name is a new call, whatever its id.
    if (index !== undefined && name !== "") return undefined;
    const sameId = id === "" ? undefined : this.#byRawId.get(id);
    if (sameId) return sameId;
    if (index !== undefined && id !== "") return undefined;
    return this.#sent.at(-1);
  }

  /** Some servers make up a new id for each piece of one call. */
  #isJitter(piece: CallPiece, call: CallDraft): boolean {
    if (piece.name === "") return !call.isComplete();
    return piece.name === call.name && call.arguments !== "" && !call.isComplete();
  }

  /** A name that looked repeated began another call, if more arguments follow it. */
  #afterEcho(piece: CallPiece, call: CallDraft): CallDraft | undefined {
    if (!call.echo || !call.isComplete() || !piece.arguments.trimStart().startsWith("{")) return undefined;
    const next = this.#create(call.echo);
    if (next) this.#add(next, call.echo);
    return next;
  }

  /** Whether a named piece only repeats a complete call. */
  #repeats(piece: CallPiece, call: CallDraft): boolean {
    if (piece.name === "" || piece.name !== call.name || !call.isComplete()) return false;
    if (piece.arguments.trim() === "") return true;
    return (
      (this.#options.isCumulative || (piece.id !== "" && piece.index !== undefined)) &&
      piece.arguments === call.arguments
    );
  }
}

function makeId(): string {
  return `call_${crypto.randomUUID().replaceAll("-", "").slice(0, 24)}`;
}
