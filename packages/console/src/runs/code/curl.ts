// A run as a command for a shell.

import type { RunRecord } from "./record.ts";
import { requestBody } from "./request-body.ts";

export interface CurlOptions {
  /** Where the server is, such as `http://127.0.0.1:4500`. */
  readonly origin: string;
  /** Whether it wants a key. The key itself is never written. */
  readonly needsKey: boolean;
}

/**
 * Sends the same request again. The body comes after the command, up to a line that no line of it can be: each begins
 * with a bracket or a space, for line breaks in texts are escaped. So nothing in it is read by the shell.
 */
export function toCurl({ response, input }: RunRecord, { origin, needsKey }: CurlOptions): string {
  const body = JSON.stringify(requestBody(response, input), null, 2);
  return [
    `curl ${shellQuote(`${origin}/v1/responses`)} \\`,
    "  -H 'content-type: application/json' \\",
    ...(needsKey ? [`  -H "authorization: Bearer $RONDO_API_KEY" \\`] : []),
    "  --data-binary @- <<'JSON'",
    body,
    "JSON",
    "",
  ].join("\n");
}

function shellQuote(text: string): string {
  return /^[\w:/.@-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
