// A dialog over the page. The browser keeps the focus inside, closes it on Escape, and gives the focus back.

import type { ComponentChildren, RefObject } from "preact";
import { useEffect, useRef } from "preact/hooks";

export interface ModalDialogProps {
  /** Its name, for screen readers. */
  readonly label: string;
  /** A class of its own. Default: none. */
  readonly look?: string;
  /** For those who close it by themselves, with `close()`. */
  readonly element?: RefObject<HTMLDialogElement | null>;
  /** Called when it has closed: the caller then leaves it out. */
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}

export function ModalDialog({ label, look = "", element, onClose, children }: ModalDialogProps) {
  const own = useRef<HTMLDialogElement>(null);
  const dialog = element ?? own;
  useEffect(() => {
    if (dialog.current?.open === false) dialog.current.showModal();
  }, []);
  return (
    // A click beside it; Escape does the same by key.
    // biome-ignore lint/a11y/useKeyWithClickEvents: see above
    <dialog
      class={`dialog ${look}`}
      aria-label={label}
      ref={dialog}
      onClose={onClose}
      onClick={(event) => {
        if (event.target === dialog.current) dialog.current?.close();
      }}
    >
      <div class="dialog-content">{children}</div>
    </dialog>
  );
}
