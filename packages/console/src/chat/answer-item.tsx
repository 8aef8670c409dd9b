// One item of an answer: text, a thought, a call, or something that this page does not know.

import { useComputed } from "@preact/signals";
import { Markdown } from "../ui/markdown/markdown.tsx";
import type { AnswerItem } from "./answer.ts";
import { CallView } from "./call-view.tsx";
import { ItemDetails } from "./item-details.tsx";
import { Thinking } from "./thinking.tsx";

export interface AnswerItemProps {
  readonly item: AnswerItem;
  /** Whether the text is JSON, because the request has a schema for it. */
  readonly isJson: boolean;
  /** Whether its text is rendered when it comes near to what is in view. */
  readonly isLazy: boolean;
}

export function AnswerItemView({ item, isJson, isLazy }: AnswerItemProps) {
  const { item: content, text } = item;
  const shown = useComputed(() => (isJson && text.value !== "" ? `\`\`\`json\n${text.value}` : text.value));
  const { type } = content.value;
  switch (type) {
    case "message":
      return <Markdown text={shown} isLazy={isLazy} />;
    case "reasoning":
      return <Thinking item={item} />;
    case "mcp_list_tools":
      return <ToolListing item={item} />;
    case "mcp_approval_request":
      return null; // asked at the end of the answer
    case "compaction":
      return <p class="message-note">The beginning of the chat was summarised to make room.</p>;
    default:
      return <CallView item={item} />;
  }
}

function ToolListing({ item }: { readonly item: AnswerItem }) {
  const { server_label: label = "", error, tools } = item.item.value;
  const names = Array.isArray(tools)
    ? (tools as readonly { name?: unknown }[]).map((tool) => String(tool.name))
    : [];
  if (typeof error === "string")
    return (
      <p class="notice warn">
        The tools of {label} are missing: {error}
      </p>
    );
  return (
    <ItemDetails
      title={<span class="soft">{`${names.length} tools of ${label}`}</span>}
      text={names.join("\n")}
    />
  );
}
