// Ids are long. A person may give the beginning of one, with or without `resp_`, as a list shows it.

import type { ApiClient } from "../api-client.ts";

const wholeId = /^resp_[0-9a-f]{48}$/;
const prefix = /^(?:resp_)?[0-9a-f]{4,47}$/;
const maxSearched = 500;

/** The whole id. Only the newest responses are looked through. Throws in words if none or several begin so. */
export async function findId(api: ApiClient, given: string, signal: AbortSignal): Promise<string> {
  // What cannot be a beginning is for the server to judge: not all servers make such ids.
  if (wholeId.test(given) || !prefix.test(given)) return given;
  const start = given.startsWith("resp_") ? given : `resp_${given}`;
  const newest = await api.list(maxSearched, {}, signal);
  const found = newest.map(({ id }) => id).filter((id) => id.startsWith(start));
  const [id, ...others] = found;
  if (id === undefined)
    throw new Error(
      `None of the newest responses at ${api.label} begins with '${start}'. \`rondo responses list\` shows them; older ones need their whole id.`,
    );
  if (others.length > 0)
    throw new Error(`Several responses begin with '${start}': ${found.join(", ")}. Give more of the id.`);
  return id;
}
