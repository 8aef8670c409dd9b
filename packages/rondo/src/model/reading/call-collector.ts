// Puts tool calls together from their pieces. Servers disagree on what says which call a piece belongs to, so an
// index, an id, a name and whether the call so far is complete all count.

import type { ModelDelta } from "../provider.ts";
import type { TextCall } from "./dialects/dialect.ts";
import { type CallEnding, canonicalJson, PendingCall } from "./pending-call.ts";
import { type CallPiece, readPiece } from "./read-piece.ts";

export interface CollectorOptions {
  /** The offered tools: they tell a name in pieces from the name of another call. */
  readonly toolNames: readonly string[];
  /** Whether arguments come as "all so far". */
  readonly isCumulative: boolean;
  /** How many calls are taken. Default: no limit. */
  readonly maxCalls?: number | undefined;
  readonly emit: (delta: ModelDelta) => void;
}

export class CallCollector {
  readonly #options: CollectorOptions;
  readonly #calls: PendingCall[] = [];
  /** The newest call of each index. */
  readonly #byIndex = new Map<number | string, PendingCall>();
  /** The newest call of each id, as servers send them. */
  readonly #byRawId = new Map<string, PendingCall>();
  readonly #ids = new Set<string>();
  /** The calls that the server has sent by the proper way. */
  readonly #sent: PendingCall[] = [];
  #hasTooMany = false;

  constructor(options: CollectorOptions) {
    this.#options = options;
  }

  get count(): number {
    return this.#calls.length;
  }

  /** Whether there were more calls than are taken. From then on nothing is. */
  get hasTooMany(): boolean {
    return this.#hasTooMany;
  }

  /** Takes the `tool_calls` of one chunk. Gives how many entries were not understood. */
  addPieces(entries: readonly unknown[]): number {
    const named = new Set<PendingCall>();
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

  /** Takes a call that was found in text. One that the server has sent as well is not run twice. */
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
  #create({ id }: CallPiece, origin?: { isFromText: boolean; isCut: boolean }): PendingCall | undefined {
    if (this.#calls.length >= (this.#options.maxCalls ?? Number.POSITIVE_INFINITY)) this.#hasTooMany = true;
    if (this.#hasTooMany) return undefined;
    const call = new PendingCall({
      // The same id twice would make the history invalid.
      rawId: id,
      claimId: (wanted) => this.#claimId(wanted),
      ...this.#options,
      ...origin,
    });
    this.#calls.push(call);
    if (!call.isFromText) this.#sent.push(call);
    return call;
  }

  #add(call: PendingCall, piece: CallPiece): void {
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

  /** The call that the piece goes on with; undefined when it begins another. */
  #callFor(piece: CallPiece, named: ReadonlySet<PendingCall>): PendingCall | undefined {
    const call = this.#candidate(piece);
    if (!call || call.isFromText) return undefined;
    const hasOtherId = piece.id !== "" && call.rawId !== "" && piece.id !== call.rawId;
    // Two entries with names in one list are two calls, unless the same id says otherwise.
    if (piece.name !== "" && named.has(call) && (hasOtherId || piece.id === "")) return undefined;
    if (hasOtherId) return this.#isJitter(piece, call) ? call : undefined;
    if (piece.name === "" || call.name === "") return this.#afterEcho(piece, call) ?? call;
    if (call.isComplete()) return this.#repeats(piece, call) ? call : undefined;
    if (piece.name === call.name || call.isNamePiece(piece.name)) return call;
    return undefined;
  }

  /** The call that the piece belongs to, unless something else about it says that it begins another. */
  #candidate({ index, id, name }: CallPiece): PendingCall | undefined {
    const sameIndex = index === undefined ? undefined : this.#byIndex.get(index);
    if (sameIndex) return sameIndex;
    // An index that is new, with a name, is a new call whatever its id is.
    if (index !== undefined && name !== "") return undefined;
    const sameId = id === "" ? undefined : this.#byRawId.get(id);
    if (sameId) return sameId;
    if (index !== undefined && id !== "") return undefined;
    return this.#sent.at(-1);
  }

  /** Some servers make up a new id for each piece of one call. */
  #isJitter(piece: CallPiece, call: PendingCall): boolean {
    if (piece.name === "") return !call.isComplete();
    return piece.name === call.name && call.arguments !== "" && !call.isComplete();
  }

  /** What looked like a repeated name was the beginning of another call, if more arguments follow it. */
  #afterEcho(piece: CallPiece, call: PendingCall): PendingCall | undefined {
    if (!call.echo || !call.isComplete() || !piece.arguments.trimStart().startsWith("{")) return undefined;
    const next = this.#create(call.echo);
    if (next) this.#add(next, call.echo);
    return next;
  }

  /** Whether a piece with a name, after a complete call, says nothing new. */
  #repeats(piece: CallPiece, call: PendingCall): boolean {
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
