// The key that opens a server with `auth`: kept for this tab's session only, and never in a URL.

import { signal } from "@preact/signals";

const name = "rondo.key";

/** The key, or null if there is none. */
export const key = signal(sessionStorage.getItem(name));

/** Whether the server wants a key that was not given, or refused the one that was. */
export const needsKey = signal(false);

export function setKey(value: string): void {
  sessionStorage.setItem(name, value);
  key.value = value;
  needsKey.value = false;
}

export function forgetKey(): void {
  sessionStorage.removeItem(name);
  key.value = null;
  needsKey.value = true;
}
