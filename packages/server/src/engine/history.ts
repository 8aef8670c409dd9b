// The history of a request: its chain of responses, and the items that it refers to.

import type { Executors } from "../executor/executors.ts";
import { invalidRequest, notFound } from "../protocol/api-error.ts";
import type { InputItem } from "../protocol/items.ts";
import { isTerminal } from "../protocol/status.ts";
import type { ChainLink, Store } from "../store/store.ts";
import type { Entry } from "./conversation.ts";

/** The chain that ends in `previousId`, oldest first. Throws 404 if a response of it is missing or of another owner. */
export async function loadChain(
  store: Store | undefined,
  owner: string,
  previousId: string,
): Promise<readonly ChainLink[]> {
  const { links, missing } = (await store?.chain(owner, previousId)) ?? { links: [], missing: previousId };
  if (missing !== undefined)
    throw notFound(
      missing === previousId
        ? `Previous response with id '${previousId}' not found. It was not stored, was deleted, or does not exist.`
        : `The chain of '${previousId}' is broken: the response '${missing}' in it was deleted.`,
      "previous_response_not_found",
      "previous_response_id",
    );
  const status = links.at(-1)?.status;
  if (status !== undefined && !isTerminal(status))
    throw invalidRequest(
      "previous_response_id",
      `The response '${previousId}' is still ${status}: there is nothing to go on from. Wait for its end, or cancel it.`,
      "previous_response_in_progress",
    );
  return links;
}

/**
 * Replaces references by the stored items. Throws 404 for an unknown one. Also loads calls of executors without their
 * result, which some clients drop, and approval requests, because only the original can be approved.
 */
export function resolveReferences(
  store: Store | undefined,
  owner: string,
  input: readonly InputItem[],
  executors: Pick<Executors, "readCall">,
): Entry[] | Promise<Entry[]> {
  const refersToStored = (item: InputItem) => {
    if (item.type === "item_reference" || item.type === "mcp_approval_request") return true;
    const call = executors.readCall(item);
    return call !== undefined && call.result === undefined;
  };
  const ids: string[] = [];
  for (const item of input) if (refersToStored(item) && item.id) ids.push(item.id);
  if (ids.length === 0) return replaceReferences(input, new Map(), refersToStored);
  const items = store?.items(owner, ids) ?? Promise.resolve([]);
  return items.then((found) =>
    replaceReferences(input, new Map(found.map((item) => [item.id, item])), refersToStored),
  );
}

function replaceReferences(
  input: readonly InputItem[],
  found: ReadonlyMap<string | undefined, Entry["item"]>,
  refersToStored: (item: InputItem) => boolean,
): Entry[] {
  return input.map((item, index) => {
    const referred = found.size > 0 && refersToStored(item) ? found.get(item.id) : undefined;
    if (referred) return { item: referred };
    if (item.type !== "item_reference") return { item };
    throw notFound(
      `Item with id '${item.id}' not found. Items are only kept of responses with store: true; send the item itself.`,
      "item_not_found",
      `input[${index}]`,
    );
  });
}
