// The palette: Ctrl-K (or Cmd-K) finds pages and actions by their names.

import { signal } from "@preact/signals";

const isOpen = signal(false);

export function openPalette(): void {
  isOpen.value = true;
}

export function Palette() {
  return null;
}
