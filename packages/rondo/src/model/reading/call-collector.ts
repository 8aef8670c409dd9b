// Puts tool calls together from their pieces. Servers disagree on what says which call a piece belongs to, so an
// index, an id, a name and whether the call so far is complete all count.

import type { ModelDelta } from "../provider.ts";
import type { TextCall } from "./dialects/dialect.ts";
import { isClosedJson } from "./json-scanner.ts";
import { type CallEnding, PendingCall } from "./pending-call.ts";
import { type CallPiece, readPiece } from "./read-piece.ts";

export interface CollectorOptions {
  /** The offered tools: they tell a name in pieces from the name of another call. */
  readonly toolNames: readonly string[];
  /** Whether arguments come as "all so far". */
  readonly isCumulative: boolean;
  readonly emit: (delta: ModelDelta) => void;
}

export class CallCollector {
  readonly #options: CollectorOptions;
  readonly #calls: PendingCall[] = [];
  /** The newest call of each index. */
  readonly #byIndex = new Map<number | string, PendingCall>();
  readonly #ids = new Set<string>();

  constructor(options: CollectorOptions) {
    this.#options = options;
  }

  get count(): number {
    return this.#calls.length;
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
      if (piece.index !== undefined) this.#byIndex.set(piece.index, call);
      if (piece.name !== "") named.add(call);
      call.add(piece);
    }
    return skipped;
  }

  /** Takes a call that was found in text. One that the server has sent as well is not run twice. */
  addTextCall({ name, arguments: text, isCut }: TextCall): void {
    if (
      this.#calls.some((call) => !call.isFromText && call.name === name && isSameJson(call.arguments, text))
    )
      return;
    const piece: CallPiece = { index: undefined, id: "", name, arguments: text, isWhole: true };
    this.#create(piece, { isFromText: true, isCut }).add(piece);
  }

  /** Ends all calls, in the order in which they began. */
  end(ending: CallEnding): void {
    for (const call of this.#calls) call.end(ending);
  }

  #create({ id }: CallPiece, origin?: { isFromText: boolean; isCut: boolean }): PendingCall {
    const call = new PendingCall({
      // The same id twice would make the history invalid.
      rawId: id,
      claimId: (wanted) => this.#claimId(wanted),
      ...this.#options,
      ...origin,
    });
    this.#calls.push(call);
    return call;
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
    const sameId = id === "" ? undefined : this.#calls.findLast((call) => call.rawId === id);
    if (sameId) return sameId;
    if (index !== undefined && id !== "") return undefined;
    return this.#calls.findLast((call) => !call.isFromText);
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
    next.add(call.echo);
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

function isSameJson(a: string, b: string): boolean {
  if (a === b) return true;
  if (!isClosedJson(a) || !isClosedJson(b)) return false;
  try {
    return JSON.stringify(JSON.parse(a)) === JSON.stringify(JSON.parse(b));
  } catch {
    return false;
  }
}
