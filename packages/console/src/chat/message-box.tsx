// A box to write a message in. Enter sends it, Shift and Enter make a new line. It grows with the text.

import type { Signal } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";
import type { ImageInput } from "./image-input.tsx";
import { imageFiles } from "./images.ts";

export interface MessageBoxProps {
  readonly label: string;
  readonly text: Signal<string>;
  readonly images: ImageInput;
  readonly onSubmit: () => void;
  readonly onEscape?: () => void;
}

export function MessageBox({ label, text, images, onSubmit, onEscape }: MessageBoxProps) {
  const box = useRef<HTMLTextAreaElement>(null);
  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return;
    element.style.height = "auto";
    element.style.height = `${element.scrollHeight + 2}px`;
  }, [text.value]);
  // With the box, not a frame later: the cursor would move to the end while a person types already.
  useLayoutEffect(() => {
    // On a phone, the keyboard would cover the page.
    if (matchMedia("(hover: none)").matches) return;
    const element = box.current;
    element?.focus({ preventScroll: true });
    element?.setSelectionRange(element.value.length, element.value.length);
  }, []);
  const take = (event: Event, files: readonly File[]) => {
    if (files.length === 0) return;
    event.preventDefault();
    void images.add(files);
  };
  return (
    <label class="message-box">
      <span class="visually-hidden">{label}</span>
      <textarea
        ref={box}
        rows={1}
        placeholder={label}
        value={text}
        onInput={(event) => {
          text.value = event.currentTarget.value;
        }}
        onPaste={(event) => take(event, imageFiles(event.clipboardData))}
        onDragOver={(event) => event.preventDefault()}
        onDrop={(event) => take(event, imageFiles(event.dataTransfer))}
        onKeyDown={(event) => {
          // While a word is being composed, Enter belongs to the input method.
          if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
            event.preventDefault();
            onSubmit();
          }
          if (event.key === "Escape") onEscape?.();
        }}
      />
    </label>
  );
}
