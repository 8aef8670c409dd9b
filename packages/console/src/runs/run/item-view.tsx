// One item: who said it, the beginning of what was said, and the rest if it is opened.

import { linkTo } from "../../shell/router.ts";
import { Icon } from "../../ui/icon.tsx";
import type { ItemRow } from "../trace/items.ts";
import { LongText } from "./long-text.tsx";

export interface ItemViewProps {
  readonly row: ItemRow;
  readonly isOpen: boolean;
  readonly onToggle: () => void;
  readonly threadId: string | undefined;
  readonly runId: string;
}

/** How much is shown of a text that is not opened. */
const previewChars = 600;
const previewLines = 8;

export function ItemView({ row, isOpen, onToggle, threadId, runId }: ItemViewProps) {
  const { look, title, text, result, isFailed, status, doubts, isOutput, item } = row;
  const isLong = isOpen || isTooLong(text) || isTooLong(result ?? "");
  return (
    <article class={`item ${look}`}>
      <header class="row">
        <strong class={look === "call" ? "mono" : ""}>{title}</strong>
        {!isOutput && <span class="run-tag">input</span>}
        {item.type === "mcp_call" && typeof item["server_label"] === "string" && (
          <span class="soft">{item["server_label"]}</span>
        )}
        {isFailed && <span class="badge bad">Failed</span>}
        {status === "in_progress" && <span class="badge busy">Running</span>}
        {status === "incomplete" && <span class="badge warn">Incomplete</span>}
        {doubts.length > 0 && (
          <span class="badge warn" title={doubts.join(", ")}>
            Doubtful: {doubts.join(", ")}
          </span>
        )}
        <span class="grow" />
        {look === "user" && !isOutput && threadId !== undefined && (
          <a
            class="button quiet item-action"
            href={linkTo("chat", [threadId], { from: runId, edit: "1" })}
            onClick={(event) => event.stopPropagation()}
          >
            <Icon name="branch" /> Edit and branch
          </a>
        )}
        {isLong && (
          <button
            class="button quiet item-action"
            type="button"
            aria-expanded={isOpen}
            onClick={(event) => {
              event.preventDefault();
              onToggle();
            }}
          >
            {isOpen ? "Less" : "More"}
          </button>
        )}
      </header>
      {text !== "" && <Text label={title} text={text} isOpen={isOpen} />}
      {result !== undefined && (
        <div class={`item-result ${isFailed ? "failed" : ""}`}>
          <Text label={isFailed ? "Error" : "Result"} text={result} isOpen={isOpen} />
        </div>
      )}
    </article>
  );
}

function Text({
  label,
  text,
  isOpen,
}: {
  readonly label: string;
  readonly text: string;
  readonly isOpen: boolean;
}) {
  if (isOpen) return <LongText label={label} text={text} />;
  return <p class="item-text">{isTooLong(text) ? preview(text) : text}</p>;
}

function isTooLong(text: string): boolean {
  return text.length > previewChars || preview(text).length < text.length;
}

function preview(text: string): string {
  const start = text.slice(0, previewChars);
  const lines = start.split("\n", previewLines + 1);
  const cut = lines.length > previewLines ? lines.slice(0, previewLines).join("\n") : start;
  return cut.length < text.length ? `${cut} …` : cut;
}
