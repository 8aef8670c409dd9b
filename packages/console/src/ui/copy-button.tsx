// Copies a text to the clipboard, and says so.

import { useSignal } from "@preact/signals";
import { copyText } from "./clipboard.ts";
import { Icon } from "./icon.tsx";

export interface CopyButtonProps {
  /** Called when it is copied. */
  readonly text: () => string | Promise<string>;
  /** Default: "Copy". */
  readonly label?: string;
}

const shownMs = 1_500;

export function CopyButton({ text, label = "Copy" }: CopyButtonProps) {
  const state = useSignal<"idle" | "copied" | "failed">("idle");
  const copy = async () => {
    try {
      await copyText(await text());
      state.value = "copied";
    } catch {
      state.value = "failed";
    }
    setTimeout(() => {
      state.value = "idle";
    }, shownMs);
  };
  return (
    <button class="button" type="button" onClick={copy}>
      <Icon name={state.value === "copied" ? "check" : "copy"} />
      <span aria-live="polite">
        {state.value === "copied" ? "Copied" : state.value === "failed" ? "Could not copy" : label}
      </span>
    </button>
  );
}
