// The model's thoughts, folded away. While they are folded, nothing of them is rendered.

import { useSignal } from "@preact/signals";
import { Markdown } from "../ui/markdown/markdown.tsx";
import type { AnswerItem } from "./answer.ts";

export function Thinking({ item }: { readonly item: AnswerItem }) {
  const isOpen = useSignal(false);
  return (
    <details
      class="chat-thinking"
      onToggle={(event) => {
        isOpen.value = event.currentTarget.open;
      }}
    >
      <summary class="soft">{item.isDone.value ? "Thought about it" : "Thinking …"}</summary>
      {isOpen.value && (
        <div class="thinking-text soft">
          <Markdown text={item.text} />
        </div>
      )}
    </details>
  );
}
