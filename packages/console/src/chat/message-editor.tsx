// Edits a message that was sent. Sending it again begins a branch: the other one stays.

import { useSignal } from "@preact/signals";
import { ImageButton, ImageList, useImageInput } from "./image-input.tsx";
import { MessageBox } from "./message-box.tsx";

export interface MessageEditorProps {
  readonly text: string;
  readonly images: readonly string[];
  readonly onCancel: () => void;
  readonly onSend: (text: string, images: readonly string[]) => void;
}

export function MessageEditor({ text: first, images: kept, onCancel, onSend }: MessageEditorProps) {
  const text = useSignal(first);
  const images = useImageInput(kept);
  const send = () => {
    if (text.peek().trim() === "" && images.images.peek().length === 0) return;
    onSend(text.peek(), images.images.peek());
  };
  return (
    <form
      class="chat-message of-user is-edited"
      aria-label="Edit the message"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <ImageList input={images} />
      <MessageBox label="Message" text={text} images={images} onSubmit={send} onEscape={onCancel} />
      <div class="row">
        <button class="button primary" type="submit">
          Send as a branch
        </button>
        <button class="button" type="button" onClick={onCancel}>
          Cancel
        </button>
        <ImageButton input={images} />
      </div>
    </form>
  );
}
