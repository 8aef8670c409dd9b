// Copies a text. Browsers have `navigator.clipboard` only on pages with TLS or on this machine: elsewhere, such as in a
// home network, a field that is selected for a moment does the same.

/** Throws if the browser does not let it. */
export async function copyText(text: string): Promise<void> {
  const clipboard = navigator.clipboard as Clipboard | undefined;
  if (clipboard) return clipboard.writeText(text);
  const focused = document.activeElement;
  const field = document.createElement("textarea");
  field.className = "visually-hidden";
  field.value = text;
  // Beside an open dialog, nothing can be selected.
  (focused?.closest("dialog") ?? document.body).append(field);
  field.select();
  const isCopied = document.execCommand("copy");
  field.remove();
  if (focused instanceof HTMLElement) focused.focus({ preventScroll: true });
  if (!isCopied) throw new Error("The browser does not let this page copy.");
}
