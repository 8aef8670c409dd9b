// Ids for stored items.

import { type IdPrefix, markOf, newInputId } from "../protocol/ids.ts";
import type { InputItem, OutputItem } from "../protocol/items.ts";

/** Every stored item gets an id of its own: the same item may be sent with many requests. The mark of its round stays. */
export function withNewId(item: InputItem | OutputItem): InputItem & { id: string } {
  const id = newInputId(prefixOf(item.type), markOf(item.id));
  if (item.type !== "mcp_approval_request") return { ...(item as unknown as InputItem), id };
  // Its answer refers to it by the id that it had.
  return { approval_request_id: item.id ?? id, ...(item as unknown as InputItem), id };
}

function prefixOf(type: string): IdPrefix {
  if (type === "message") return "msg";
  if (type === "function_call") return "fc";
  if (type === "reasoning") return "rs";
  if (type === "mcp_list_tools") return "mcpl";
  if (type === "mcp_approval_request") return "mcpr";
  return type === "mcp_call" ? "mcp" : "in";
}
