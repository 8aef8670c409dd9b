// What was sent: a person's message, which can be edited, and results or decisions.

import { useSignal } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";
import type { Item } from "../api/response.ts";
import { Icon } from "../ui/icon.tsx";
import { BranchSwitch, type BranchSwitchProps } from "./branch-switch.tsx";
import { ItemDetails } from "./item-details.tsx";
import { imagesOf, otherPartsOf, textOf } from "./item-text.ts";
import { MessageEditor } from "./message-editor.tsx";

export interface InputItemsProps {
  readonly input: readonly Item[] | undefined;
  readonly branch: BranchSwitchProps;
  readonly startsEditing: boolean;
  readonly onEdit: (text: string, images: readonly string[]) => void;
}

export function InputItems({ input, branch, startsEditing, onEdit }: InputItemsProps) {
  const isEditing = useSignal(startsEditing);
  const button = useRef<HTMLButtonElement>(null);
  const isCancelled = useRef(false);
  useLayoutEffect(() => {
    if (isCancelled.current) button.current?.focus();
    isCancelled.current = false;
  }, [isEditing.value]);
  if (!input) return <div class="message-loading" aria-hidden="true" />;
  const last = input.findLast(({ role }) => role === "user");
  return (
    <>
      {input.map((item, index) =>
        item === last && isEditing.value ? (
          <MessageEditor
            key={index}
            text={textOf(item)}
            images={imagesOf(item)}
            onCancel={() => {
              isCancelled.current = true;
              isEditing.value = false;
            }}
            onSend={(text, images) => {
              isEditing.value = false;
              onEdit(text, images);
            }}
          />
        ) : (
          <InputItem key={index} item={item} />
        ),
      )}
      {!isEditing.value && (
        <div class="message-actions small-actions">
          <BranchSwitch {...branch} />
          {last && (
            <button
              ref={button}
              class="button quiet"
              type="button"
              onClick={() => {
                isEditing.value = true;
              }}
            >
              <Icon name="edit" />
              Edit
            </button>
          )}
        </div>
      )}
    </>
  );
}

const roles: Readonly<Record<string, string>> = {
  user: "You",
  assistant: "Model",
  system: "System",
  developer: "Developer",
};

function InputItem({ item }: { readonly item: Item }) {
  if (item.type === "mcp_approval_response")
    return (
      <p class="message-note">{item.approve === true ? "You approved the call." : "You denied the call."}</p>
    );
  if (item.type.endsWith("_output"))
    return <ItemDetails title="Result of the call" text={outputText(item.output)} />;
  if (item.type !== "message") return <ItemDetails title={item.type} text={JSON.stringify(item, null, 2)} />;
  const role = item.role ?? "user";
  return (
    <div class={`chat-message ${role === "user" ? "of-user" : "of-other"}`}>
      <span class={role === "user" ? "visually-hidden" : "message-role"}>{roles[role] ?? role}</span>
      {imagesOf(item).map((url) => (
        <img key={url} class="message-image" src={url} alt="Sent with the message" />
      ))}
      <p class="message-text">{textOf(item)}</p>
      {otherPartsOf(item).map(({ type, filename }, index) => (
        <span key={index} class="soft">
          {filename ?? (type === "input_image" ? "An image that is not in the message itself" : type)}
        </span>
      ))}
    </div>
  );
}

function outputText(output: unknown): string {
  return typeof output === "string" ? output : JSON.stringify(output, null, 2);
}
