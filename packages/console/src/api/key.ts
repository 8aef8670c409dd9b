// The key that opens a server with `auth`: kept for this tab's session only, and never in a URL.

import { signal } from "@preact/signals";
import { keepUnsent } from "./unsent.ts";

const name = "rondo.key";
const ownerName = "rondo.owner";

/** Whose key was kept last; null if there was none. */
const lastOwner = sessionStorage.getItem(ownerName);

/** The key, or null if there is none. */
export const key = signal(sessionStorage.getItem(name));

/** Whether the server wants a key that was not given, or refused the one that was. */
export const needsKey = signal(false);

/** Whether the server refused the key that was kept. */
export const isRefused = signal(false);

/** Keeps a key that the server accepts, and begins anew with it: nothing of another owner stays in memory. */
export function keepKey(value: string, owner: string): void {
  sessionStorage.clear();
  sessionStorage.setItem(name, value);
  sessionStorage.setItem(ownerName, owner);
  if (owner === lastOwner) keepUnsent();
  location.reload();
}

/** Forgets the key, and all that was loaded with it. */
export function forgetKey(): void {
  sessionStorage.clear();
  location.reload();
}

/** The server wants a key, or another one. */
export function keyRefused(): void {
  sessionStorage.removeItem(name);
  sessionStorage.removeItem(ownerName);
  isRefused.value = key.peek() !== null;
  key.value = null;
  needsKey.value = true;
}
