// The tools that `tool_choice` names: by the name that the client has for them, or by their server.

import type { AnyTool } from "rondo";
import type { NamedTool, ToolChoice } from "../protocol/tool-choice.ts";
import type { Offer } from "./offer.ts";
import { isOfServer } from "./tool-identity.ts";

/** Whether `named` means this tool. */
export function isNamed(named: NamedTool, { name, wireName }: AnyTool, offer: Offer): boolean {
  const { identity, type } = offer.find(name) ?? {};
  if (typeof named === "object")
    return named.name === undefined
      ? identity?.label === named.server_label
      : offer.findOn(named.server_label, named.name)?.tool.wireName === wireName;
  const exact = offer.find(named);
  // The name of a function means it alone, and not a server of that name or a tool there.
  if (exact && !isOfServer(exact.identity)) return exact.tool.wireName === wireName;
  return [name, wireName, identity?.name, ...(exact ? [] : [identity?.label, type])].includes(named);
}

/** A choice under the names that the model has: of a tool by its name on its server or its type, or of any tool of a server. */
export function offeredChoice(choice: ToolChoice, offer: Offer): ToolChoice {
  if (typeof choice !== "object") return choice;
  const { name, server_label: server } = choice;
  if (server !== undefined)
    return { name: offer.findOn(server, name)?.tool.wireName ?? `${server}: ${name}` };
  if (offer.find(name)) return choice;
  const labels = new Set(offer.tools.map((it) => offer.find(it.name)?.identity.label));
  const onServer = [...labels].flatMap((label) => offer.findOn(label ?? "", name) ?? [])[0];
  if (onServer) return { name: onServer.tool.wireName };
  const ofType = offer.tools.find((it) => offer.find(it.name)?.type === name);
  if (ofType) return { name: ofType.wireName };
  return labels.has(name) ? "required" : choice;
}
