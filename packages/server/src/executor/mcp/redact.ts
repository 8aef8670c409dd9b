// Removes the credentials for a server from its error messages, which are shown and logged.

export type Fetch = (input: string | URL | Request, init?: RequestInit) => Promise<Response>;

/** How much of an error body is read. */
const maxChars = 20_000;

/** All values sent in headers, except words too short to be secrets. */
function secretsIn(headers: Readonly<Record<string, string>>): string[] {
  const values = Object.values(headers).flatMap((value) => [value, ...value.split(/\s+/)]);
  // Longest first, so that no part of a secret remains.
  return [...new Set(values)].filter((value) => value.length >= 6).toSorted((a, b) => b.length - a.length);
}

export function redact(text: string, headers: Readonly<Record<string, string>>): string {
  return secretsIn(headers).reduce((rest, secret) => rest.replaceAll(secret, "(hidden)"), text);
}

/** A `fetch` that redacts the bodies of errors. */
export function redactingFetch(fetch: Fetch, headers: Readonly<Record<string, string>>): Fetch {
  if (secretsIn(headers).length === 0) return fetch;
  return async (input, init) => {
    const response = await fetch(input, init);
    if (response.ok) return response;
    const text = redact(await beginning(response), headers);
    const { status, statusText } = response;
    const kept = new Headers(response.headers);
    kept.delete("content-length");
    kept.delete("content-encoding");
    const hasBody = text !== "" && ![204, 205, 304].includes(status);
    return new Response(hasBody ? text : null, {
      status,
      statusText: redact(statusText, headers),
      headers: kept,
    });
  };
}

async function beginning({ body }: Response): Promise<string> {
  let text = "";
  const decoder = new TextDecoder();
  for await (const chunk of body ?? []) {
    text += decoder.decode(chunk, { stream: true });
    if (text.length > maxChars) break;
  }
  return text.slice(0, maxChars);
}
