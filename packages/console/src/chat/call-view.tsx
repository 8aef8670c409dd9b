// A call of a tool: its name, what it was called with, and what came of it.

import { useSignal } from "@preact/signals";
import { Icon } from "../ui/icon.tsx";
import { Spinner } from "../ui/spinner.tsx";
import type { AnswerItem } from "./answer.ts";
import { describeCall } from "./describe-call.ts";
import { CallText } from "./item-details.tsx";

export function CallView({ item }: { readonly item: AnswerItem }) {
  const isOpen = useSignal(false);
  const {
    title,
    server,
    input,
    inputLabel,
    output,
    error,
    isOpen: isWaiting,
  } = describeCall(item.item.value, item.text.value);
  const isDone = item.isDone.value;
  const words = !isDone
    ? "running"
    : error !== undefined
      ? "failed"
      : isWaiting
        ? "waits for a result"
        : "done";
  return (
    <details
      class="chat-call"
      onToggle={(event) => {
        isOpen.value = event.currentTarget.open;
      }}
    >
      <summary>
        <span class={`call-icon ${error !== undefined ? "bad" : ""}`}>
          {isDone ? (
            <Icon name={error !== undefined ? "warning" : isWaiting ? "tools" : "check"} />
          ) : (
            <Spinner />
          )}
        </span>
        <span class="mono call-name">{title}</span>
        {server !== undefined && <span class="soft">{server}</span>}
        <span class="visually-hidden">{words}</span>
        <span class="soft mono one-line grow">{input.replace(/\s+/g, " ").slice(0, 200)}</span>
      </summary>
      {isOpen.value && (
        <div class="call-body">
          {input !== "" && <CallText label={inputLabel} text={input} />}
          {output !== undefined && <CallText label="Result" text={output} />}
          {error !== undefined && <CallText label="Error" text={error} look="bad" />}
        </div>
      )}
    </details>
  );
}
