// Something long, folded away.

import type { ComponentChildren } from "preact";
import { CodeBlock } from "../ui/code-block.tsx";
import { CopyButton } from "../ui/copy-button.tsx";

export interface ItemDetailsProps {
  readonly title: ComponentChildren;
  readonly text: string;
}

export function ItemDetails({ title, text }: ItemDetailsProps) {
  return (
    <details class="chat-call">
      <summary>{title}</summary>
      <div class="call-body">
        <CallText label="Text" text={text} />
      </div>
    </details>
  );
}

/** Longer texts are cut: the run's page has all of it. */
const maxShown = 20_000;

export interface CallTextProps {
  readonly label: string;
  readonly text: string;
  readonly look?: "bad" | undefined;
}

export function CallText({ label, text, look }: CallTextProps) {
  const isLong = text.length > maxShown;
  return (
    <div class={`call-text ${look ?? ""}`}>
      <div class="call-label">
        <span class="soft">{label}</span>
        <CopyButton text={() => text} />
      </div>
      <CodeBlock label={label}>
        {isLong ? `${text.slice(0, maxShown)}\n… ${text.length - maxShown} more characters` : text}
      </CodeBlock>
    </div>
  );
}
