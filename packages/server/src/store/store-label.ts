// How a store is named in logs, messages and at the start: never with a password.

import type { Store } from "./store.ts";

/** What a store's URL begins with if it is PostgreSQL. */
const postgresScheme = /^postgres(?:ql)?:\/\//i;

/** Whether a store is the URL of a PostgreSQL database. */
export function isPostgresUrl(store: unknown): store is `postgres${string}` {
  return typeof store === "string" && postgresScheme.test(store);
}

/** Whether a URL of PostgreSQL can be used: a password with special characters has to be percent-encoded. */
export function isValidPostgresUrl(url: string): boolean {
  const parsed = URL.parse(url);
  if (parsed === null) return false;
  try {
    for (const part of [parsed.username, parsed.password, parsed.pathname]) decodeURIComponent(part);
    return true;
  } catch {
    return false;
  }
}

/** The store for people: a URL without its password and its parameters, which may hold one too. */
export function storeLabel(store: string | Store): string {
  if (typeof store !== "string") return "your own";
  if (!isPostgresUrl(store)) return store;
  const url = URL.parse(store);
  if (url === null || !isValidPostgresUrl(store)) return "postgres://(hidden)";
  const user = url.username === "" ? "" : `${url.username}@`;
  return `postgres://${user}${url.host}${url.pathname}`;
}

/** A text in which URLs of PostgreSQL have no password and no parameters. */
export function hidePasswords(text: string): string {
  // To the last @ before a space or quote: an unencoded password may have one too.
  return text.replace(
    /(postgres(?:ql)?:\/\/)(?:([^\s"'`:@/?#]*)(?::[^\s"'`]{0,1000})?@)?([^\s"'`?]*)(?:\?[^\s"'`]*)?/gi,
    (_match, scheme: string, user: string | undefined, rest: string) =>
      `${scheme}${user === undefined ? "" : `${user}@`}${rest}`,
  );
}
