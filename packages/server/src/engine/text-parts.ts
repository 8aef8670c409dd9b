// The parts of text items, and the events about them. A thought is shown as a summary, which all clients know, as
// content, or as both.

import type { EventBody } from "../protocol/events.ts";
import type { Annotation, MessageItem, OutputText, ReasoningItem } from "../protocol/items.ts";
import type { ItemStatus } from "../protocol/status.ts";

/** How clients see thoughts. */
export type ThoughtForm = "summary" | "content" | "both";

/** A part of a text item: of a message, or of a thought. */
export type PartForm = "message" | "content" | "summary";

/** The parts that show a thought. */
export function thoughtParts(form: ThoughtForm): readonly PartForm[] {
  return form === "both" ? ["content", "summary"] : [form];
}

/** Where an item is. */
interface Place {
  readonly item_id: string;
  readonly output_index: number;
}

export function partBegun(form: PartForm, at: Place): EventBody {
  if (form === "summary")
    return {
      type: "response.reasoning_summary_part.added",
      ...at,
      summary_index: 0,
      part: { type: "summary_text", text: "" },
    };
  const part = form === "message" ? outputText("") : ({ type: "reasoning_text", text: "" } as const);
  return { type: "response.content_part.added", ...at, content_index: 0, part };
}

export function partGrown(form: PartForm, at: Place, delta: string): EventBody {
  if (form === "message")
    return { type: "response.output_text.delta", ...at, content_index: 0, delta, logprobs: [] };
  return form === "content"
    ? { type: "response.reasoning_text.delta", ...at, content_index: 0, delta }
    : { type: "response.reasoning_summary_text.delta", ...at, summary_index: 0, delta };
}

export function partEnded(
  form: PartForm,
  at: Place,
  text: string,
  annotations: readonly Annotation[] = [],
): readonly EventBody[] {
  if (form === "summary") {
    const place = { ...at, summary_index: 0 };
    const part = { type: "summary_text", text } as const;
    return [
      { type: "response.reasoning_summary_text.done", ...place, text },
      { type: "response.reasoning_summary_part.done", ...place, part },
    ];
  }
  const place = { ...at, content_index: 0 };
  if (form === "message")
    return [
      ...annotations.map(
        (annotation, annotation_index): EventBody => ({
          type: "response.output_text.annotation.added",
          ...place,
          annotation_index,
          annotation,
        }),
      ),
      { type: "response.output_text.done", ...place, text, logprobs: [] },
      { type: "response.content_part.done", ...place, part: outputText(text, annotations) },
    ];
  return [
    { type: "response.reasoning_text.done", ...place, text },
    { type: "response.content_part.done", ...place, part: { type: "reasoning_text", text } },
  ];
}

export function messageItem(
  id: string,
  status: ItemStatus,
  text?: string,
  annotations?: readonly Annotation[],
): MessageItem {
  const content = text === undefined ? [] : [outputText(text, annotations)];
  return { type: "message", id, role: "assistant", status, content };
}

/** Without `text`, an item that has none yet. */
export function thoughtItem(
  id: string,
  status: ItemStatus,
  parts: readonly PartForm[],
  text?: string,
): ReasoningItem {
  const isWhole = text !== undefined;
  return {
    type: "reasoning",
    id,
    summary: isWhole && parts.includes("summary") ? [{ type: "summary_text", text }] : [],
    // The public schemas know thoughts without content; to some, any content is an error in a later request.
    ...(parts.includes("content") && { content: isWhole ? [{ type: "reasoning_text", text }] : [] }),
    status,
  };
}

function outputText(text: string, annotations: readonly Annotation[] = []): OutputText {
  return { type: "output_text", text, annotations: [...annotations], logprobs: [] };
}
