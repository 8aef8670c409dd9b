// Completes the prefix of an id, with or without `resp_`: lists show only prefixes.

import type { ApiClient } from "../api-client.ts";

// Ours have 32 digits; other servers have such ids with 48.
const wholeId = /^resp_(?:[0-9a-f]{32}|[0-9a-f]{48})$/;
const prefix = /^(?:resp_)?[0-9a-f]{4,47}$/;
const maxSearched = 500;

/** The whole id. Searches only the newest responses. Throws an error for the user if none or several match. */
export async function findId(api: ApiClient, given: string, signal: AbortSignal): Promise<string> {
  // Anything else is left to the server: not all servers have such ids.
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
