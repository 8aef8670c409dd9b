// Ids for items that are kept.

import { type IdPrefix, newId } from "../protocol/ids.ts";
import type { InputItem, OutputItem } from "../protocol/items.ts";

/** Every item that is kept has an id of its own: the same item may be sent with many requests. */
export function withNewId(item: InputItem | OutputItem): InputItem & { id: string } {
  return { ...(item as unknown as InputItem), id: newId(prefixOf(item.type)) };
}

function prefixOf(type: string): IdPrefix {
  if (type === "message") return "msg";
  if (type === "function_call") return "fc";
  if (type === "reasoning") return "rs";
  return type === "mcp_call" ? "mcp" : "in";
}
