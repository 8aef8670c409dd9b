// A message that did not reach the server because it refused the key. Only its owner gets it back.

const name = "rondo.unsent";

interface Unsent {
  /** The place in the console where it was written. */
  readonly hash: string;
  readonly text: string;
}

/** In memory until it is known whose key comes next. */
let held: Unsent | undefined;

/** Holds a text until the next key is entered. */
export function holdUnsent(text: string): void {
  if (text.trim() === "") return;
  held = { hash: location.hash, text: held ? `${held.text}\n\n${text}` : text };
}

/** Keeps the held text for the page after a reload: the next key is one of the same owner. */
export function keepUnsent(): void {
  if (held) sessionStorage.setItem(name, JSON.stringify(held));
}

/** The text that was written here; empty if there is none. */
export function unsentText(): string {
  const kept = sessionStorage.getItem(name);
  if (kept === null) return "";
  const { hash, text } = JSON.parse(kept) as Unsent;
  return hash === location.hash ? text : "";
}

/** It was sent, or is being changed. */
export function forgetUnsent(): void {
  sessionStorage.removeItem(name);
}
