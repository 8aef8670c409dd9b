// A button that opens a small panel above it. Escape and a click elsewhere close it.

import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef } from "preact/hooks";
import { Icon, type IconName } from "./icon.tsx";
import "./popover.css";

export interface PopoverProps {
  readonly icon: IconName;
  readonly label: string;
  readonly children: ComponentChildren;
}

export function Popover({ icon, label, children }: PopoverProps) {
  const isOpen = useSignal(false);
  const root = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const id = useId();
  const close = () => {
    isOpen.value = false;
  };
  useEffect(() => {
    if (!isOpen.value) return undefined;
    const onPointer = (event: Event) => {
      if (!root.current?.contains(event.target as Node)) close();
    };
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== "Escape") return;
      close();
      button.current?.focus();
    };
    addEventListener("pointerdown", onPointer);
    addEventListener("keydown", onKey);
    return () => {
      removeEventListener("pointerdown", onPointer);
      removeEventListener("keydown", onKey);
    };
  }, [isOpen.value]);
  return (
    <div class="popover" ref={root}>
      <button
        ref={button}
        class="button quiet"
        type="button"
        aria-expanded={isOpen.value}
        aria-controls={id}
        onClick={() => {
          isOpen.value = !isOpen.value;
        }}
      >
        <Icon name={icon} />
        <span class="popover-label">{label}</span>
      </button>
      {isOpen.value && (
        <fieldset id={id} class="popover-panel card stack" aria-label={label}>
          {children}
        </fieldset>
      )}
    </div>
  );
}
