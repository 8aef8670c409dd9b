// The id of an approval request signs the tool and the arguments for one owner. So only the original call can be
// approved, whether the request comes back from the store, a conversation or the client.

import { randomBytes } from "node:crypto";
import type { ToolIdentity } from "../executor/tool-identity.ts";
import type { Sealer } from "./seal.ts";

/** A call that a person is asked to allow. */
export interface ApprovalRequest {
  /** The id that an approval names. In the conversation it is the id of the call. */
  readonly id: string;
  readonly identity: ToolIdentity;
  readonly arguments: string;
}

/** `mcpr_`, a random part with the mark of the round, the signature, and the host, which the item does not show. */
const form = /^mcpr_([\w-]{16}(?:_[0-9a-f]{8})?)\.([\w-]+)\.(.+)$/s;

/** `mark` is that of the round that the call belongs to. */
export function approvalId(
  call: Omit<ApprovalRequest, "id">,
  { sign }: Pick<Sealer, "sign">,
  mark?: string,
): string {
  const random = randomBytes(12).toString("base64url") + (mark === undefined ? "" : `_${mark}`);
  return `mcpr_${random}.${sign("approval", signedText(random, call))}.${call.identity.host}`;
}

/** The original request; undefined if this server did not make it for this owner, or it was changed. */
export function readApproval(
  item: { readonly id: string; readonly label: string; readonly name: string; readonly arguments: string },
  { isSigned }: Pick<Sealer, "isSigned">,
): ApprovalRequest | undefined {
  const [, random, signature, host] = form.exec(item.id) ?? [];
  if (random === undefined || signature === undefined || host === undefined) return undefined;
  const { id, label, name, arguments: text } = item;
  const call = { identity: { host, label, name }, arguments: text };
  return isSigned("approval", signedText(random, call), signature) ? { id, ...call } : undefined;
}

function signedText(random: string, { identity, arguments: text }: Omit<ApprovalRequest, "id">): string {
  return JSON.stringify([random, identity.host, identity.label, identity.name, text]);
}

/** The part of an id that names the request; the rest proves who made it. */
export function publicApprovalId(id: string): string {
  return id.split(".", 1)[0] ?? id;
}
