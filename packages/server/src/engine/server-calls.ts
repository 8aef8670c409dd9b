// Puts back the calls that the server ran where a client keeps its history itself and leaves them out: Codex, opencode
// and Copilot send back messages, thoughts and their own calls, and no `mcp_call`. A stored response is found by the ids
// of its items. One that is not stored seals its calls into a `reasoning` item, which these clients keep.

import type { JsonObject } from "rondo";
import type { Executors, LabelledCall } from "../executor/executors.ts";
import { readItemId } from "../protocol/ids.ts";
import type { InputItem, OutputItem, ReasoningItem } from "../protocol/items.ts";
import type { Store, StoredOutput } from "../store/store.ts";
import { contentText } from "./content.ts";
import type { Entry } from "./conversation.ts";
import { withoutCutAnswers } from "./cut-answers.ts";
import type { Sealer } from "./seal.ts";

/** What a carrier has sealed. */
interface CarriedCalls {
  readonly version: 1;
  readonly items: readonly JsonObject[];
  /** Whether the client's calls of the same answer follow it. */
  readonly isWithinAnswer: boolean;
}

/** Marks sealed calls, so that no other content has to be opened to find them. */
const mark = "calls.";

/** Clients send a carrier back with each request, so it must not hold long results whole. */
const maxResultChars = 32_000;
const maxCarriedCalls = 128;
const maxCarriedChars = 500_000;

/** How many responses of one request are looked up: the newest. */
const maxResponses = 200;
/** How much of them is put back, in characters: it is stored with the request, which is much shorter. */
const maxPutBackChars = 10_000_000;

/** The `encrypted_content` of a carrier. */
export function sealCalls(
  items: readonly OutputItem[],
  isWithinAnswer: boolean,
  seal: Sealer["seal"],
): string {
  const short = items.slice(-maxCarriedCalls).map((item) => shortened(item as unknown as JsonObject));
  let chars = 0;
  const isTooMuch = (item: JsonObject) => {
    chars += JSON.stringify(item).length;
    return chars > maxCarriedChars;
  };
  const first = short.findLastIndex(isTooMuch) + 1;
  const carried: CarriedCalls = { version: 1, items: short.slice(first), isWithinAnswer };
  return `${mark}${seal("calls", JSON.stringify(carried))}`;
}

export interface PutBackOptions {
  readonly store: Pick<Store, "output" | "keepsNothing">;
  readonly owner: string;
  readonly executors: Pick<Executors, "readCall">;
  readonly unseal: Sealer["unseal"];
}

/** The entries of a request, with the calls that its client left out. `before`: what comes before the request. */
export function withServerCalls(
  before: readonly Entry[],
  own: readonly Entry[],
  options: PutBackOptions,
): readonly Entry[] | Promise<readonly Entry[]> {
  const ids = options.store.keepsNothing ? [] : responsesWithCalls(own);
  if (ids.length > 0) return putBack(before, own, ids, options);
  return own.some(({ item }) => isCarrier(item)) ? putBack(before, own, ids, options) : own;
}

async function putBack(
  before: readonly Entry[],
  own: readonly Entry[],
  ids: readonly string[],
  options: PutBackOptions,
): Promise<readonly Entry[]> {
  const stored = await storedResponses(ids, options);
  if (stored.size === 0 && !own.some(({ item }) => isCarrier(item))) return own;
  const known = new KnownCalls([...before, ...own], options.executors);
  const places = placesOf(own, stored);
  /** How much of each output was looked at: many items may follow the same calls. */
  const lookedAt = new Map<Place["output"], number>();
  return own.flatMap((entry, index): Entry[] => {
    const calls = carriedBy(entry.item, options.unseal);
    if (calls) {
      const items = calls.items.filter((item) => known.add(item)) as InputItem[];
      // Left in its place, it separates these calls from those of the next answer.
      return [...items.map((item) => ({ item })), ...(calls.isWithinAnswer ? [] : [entry])];
    }
    const place = places[index];
    if (!place) return [entry];
    const from = lookedAt.get(place.output) ?? 0;
    lookedAt.set(place.output, Math.max(from, place.at));
    const missing = place.output.slice(from, place.at).filter(({ item }) => known.add(item as JsonObject));
    return [...missing.map(({ item }) => ({ item })), entry];
  });
}

/** The place of an item in a stored output. */
interface Place {
  readonly output: readonly StoredOutput[];
  readonly at: number;
}

function placesOf(own: readonly Entry[], stored: StoredResponses): (Place | undefined)[] {
  const byId = new Map<unknown, Place>();
  for (const output of stored.values())
    for (const [at, { item }] of output.entries())
      for (const id of idsOf(item)) if (!byId.has(id)) byId.set(id, { output, at });
  const places = own.map(({ item }): Place | undefined => {
    const output = stored.get(responseOf(item)?.responseId ?? "");
    const known = idsOf(item).map((id) => byId.get(id));
    return output && known.find((place) => place?.output === output);
  });
  // Text that lost its id is recognised by what follows it: the call of the same answer.
  for (let index = own.length - 2; index >= 0; index -= 1) {
    const next = places[index + 1];
    const at = next ? next.at - 1 : -1;
    if (next && !places[index] && isSameText(next.output[at]?.item, own[index]?.item))
      places[index] = { output: next.output, at };
  }
  return places;
}

/** Outputs by the ids of their responses. */
type StoredResponses = ReadonlyMap<string, readonly StoredOutput[]>;

/** The responses whose items the client sent, and which have calls of the server. */
function responsesWithCalls(own: readonly Entry[]): string[] {
  return own.flatMap(({ item }) => {
    const { responseId, hasServerCalls } = responseOf(item) ?? {};
    return responseId !== undefined && hasServerCalls ? [responseId] : [];
  });
}

/** What the store has of them. */
async function storedResponses(
  ids: readonly string[],
  { store, owner }: PutBackOptions,
): Promise<StoredResponses> {
  const newest = [...new Set(ids.toReversed())].slice(0, maxResponses);
  const found = new Map<string, readonly StoredOutput[]>();
  let chars = 0;
  // One after the other: a request must not take all connections of a store, nor more memory than it may use.
  for (const id of newest) {
    const output = withoutCutAnswers(await store.output(owner, id));
    chars += JSON.stringify(output).length;
    if (chars > maxPutBackChars) break;
    if (output.length > 0) found.set(id, output);
  }
  return found;
}

/** Types of items that clients send back, and that stand in one answer with the server's calls. */
const sentBack = new Set([
  "message",
  "reasoning",
  "function_call",
  "custom_tool_call",
  "shell_call",
  "local_shell_call",
  "apply_patch_call",
]);

/** The response that an item is of, by its own id or that of its call, which clients cannot change. */
function responseOf(item: Entry["item"]): ReturnType<typeof readItemId> {
  const { type, id, call_id: callId } = item as InputItem;
  if (!sentBack.has(type)) return undefined;
  return (
    (id === undefined ? undefined : readItemId(id)) ??
    (typeof callId === "string" ? readItemId(callId) : undefined)
  );
}

/** What an item is known by. */
function idsOf({ id, call_id: callId }: Entry["item"] & { call_id?: unknown }): unknown[] {
  return [id, callId].filter((it) => typeof it === "string");
}

function isSameText(stored: OutputItem | undefined, item: Entry["item"] | undefined): boolean {
  const { type, role, content = "" } = (item ?? {}) as Partial<InputItem>;
  if (stored?.type !== "message" || type !== "message" || role !== "assistant") return false;
  return contentText(stored.content) === contentText(content);
}

/** Whether an item is a thought without words that holds calls of the server. */
export function isCarrier(item: Entry["item"]): boolean {
  const { type, encrypted_content: sealed } = item as InputItem;
  return type === "reasoning" && typeof sealed === "string" && sealed.startsWith(mark);
}

/** The calls in a carrier; undefined for another item, and for a carrier of another owner or server. */
function carriedBy(item: Entry["item"], unseal: Sealer["unseal"]): CarriedCalls | undefined {
  if (!isCarrier(item)) return undefined;
  const sealed = (item as ReasoningItem).encrypted_content ?? "";
  const text = unseal("calls", sealed.slice(mark.length));
  const carried = text === undefined ? undefined : (JSON.parse(text) as CarriedCalls);
  return carried?.version === 1 ? carried : undefined;
}

/** The server's calls that the history has. */
class KnownCalls {
  readonly #ids = new Set<string>();
  readonly #withoutId = new Set<string>();
  readonly #executors: PutBackOptions["executors"];

  constructor(entries: readonly Entry[], executors: PutBackOptions["executors"]) {
    this.#executors = executors;
    for (const { item } of entries) this.add(item);
  }

  /** Whether it is a call of the server that the history did not have; now it has. */
  add(item: JsonObject): boolean {
    const { id, type } = item;
    if (typeof type !== "string") return false;
    const call = this.#executors.readCall({ ...item, type });
    if (!call) return false;
    if (typeof id !== "string") {
      this.#withoutId.add(contentOf(call));
      return true;
    }
    if (this.#ids.has(id)) return false;
    this.#ids.add(id);
    return this.#withoutId.size === 0 || !this.#withoutId.has(contentOf(call));
  }
}

/** What a call is known by where a client sends it without its id. A carrier has its result cut. */
function contentOf({ label, name, arguments: text, result }: LabelledCall): string {
  return JSON.stringify([label, name, text, result?.slice(0, maxResultChars) ?? null]);
}

/** An item with a long output cut. */
function shortened(item: JsonObject): JsonObject {
  const { output } = item;
  if (typeof output !== "string" || output.length <= maxResultChars) return item;
  const left = output.length - maxResultChars;
  return { ...item, output: `${output.slice(0, maxResultChars)}… (${left} more characters)` };
}
