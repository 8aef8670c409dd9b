// Ids for stored items.

import { type IdPrefix, type InputPlace, inputId, markOf, newTimedId } from "../protocol/ids.ts";
import type { InputItem, OutputItem } from "../protocol/items.ts";

/**
 * Every stored item gets an id of its own: the same item may be sent with many requests. The mark of its round stays.
 * `place`: where it stands, unless it is added to a conversation by itself.
 */
export function withNewId(item: InputItem | OutputItem, place?: InputPlace): InputItem & { id: string } {
  const prefix = prefixOf(item.type);
  const mark = markOf(item.id);
  const id = place ? inputId(prefix, place, mark) : newTimedId(prefix, mark);
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
