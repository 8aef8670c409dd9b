// Where a person writes: the message, its images, the model, the tools and the settings.

import { type Signal, useSignal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import type { ToolList } from "../api/inspect-types.ts";
import { needsKey } from "../api/key.ts";
import { forgetUnsent, holdUnsent, unsentText } from "../api/unsent.ts";
import { Icon } from "../ui/icon.tsx";
import "./composer.css";
import { ImageButton, ImageList, useImageInput } from "./image-input.tsx";
import { MessageBox } from "./message-box.tsx";
import { changeSettings, settings } from "./settings.ts";
import { SettingsPanel } from "./settings-panel.tsx";
import { ToolsPanel } from "./tools-panel.tsx";

export interface ComposerProps {
  readonly models: readonly string[];
  readonly tools: ToolList | undefined;
  readonly isBusy: boolean;
  readonly onSend: (text: string, images: readonly string[]) => void;
  readonly onStop: () => void;
}

export function Composer({ models, tools, isBusy, onSend, onStop }: ComposerProps) {
  const text = useUnsent();
  const images = useImageInput();
  const isEmpty = text.value.trim() === "" && images.images.value.length === 0;
  const send = () => {
    if (isBusy || isEmpty) return;
    onSend(text.peek(), images.images.peek());
    text.value = "";
    images.images.value = [];
  };
  return (
    <form
      class="composer"
      aria-label="New message"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <ImageList input={images} />
      <MessageBox
        label="Write a message"
        text={text}
        images={images}
        onSubmit={send}
        onEscape={() => isBusy && onStop()}
      />
      <div class="composer-bar">
        <ImageButton input={images} />
        <ToolsPanel tools={tools} />
        <SettingsPanel />
        <label class="composer-model">
          <span class="visually-hidden">Model</span>
          <select
            class="input"
            value={settings.value.model}
            onChange={(event) => changeSettings({ model: event.currentTarget.value })}
          >
            {(models.includes(settings.value.model) ? models : [settings.value.model, ...models]).map(
              (model) => (
                <option key={model} value={model}>
                  {model}
                </option>
              ),
            )}
          </select>
        </label>
        {isBusy ? (
          <button class="button" type="button" onClick={onStop}>
            <Icon name="stop" />
            Stop
          </button>
        ) : (
          <button class="button primary" type="submit" disabled={isEmpty}>
            <Icon name="send" />
            Send
          </button>
        )}
      </div>
    </form>
  );
}

/** The text of the message. What is unsent when the key is refused is there again with the next key of its owner. */
function useUnsent(): Signal<string> {
  const unsent = useMemo(() => unsentText(), []);
  const text = useSignal(unsent);
  useEffect(() => {
    if (text.value !== unsent) forgetUnsent();
  }, [text.value]);
  useEffect(
    () => () => {
      if (needsKey.peek()) holdUnsent(text.peek());
    },
    [],
  );
  return text;
}
