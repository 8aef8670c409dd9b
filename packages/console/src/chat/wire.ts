// What the chat reads and sends of the Responses API. The server may send more.

import type { RunStatus } from "../api/types.ts";

export interface ContentPart {
  readonly type: string;
  readonly text?: string;
  readonly image_url?: string | { readonly url: string } | null;
  readonly filename?: string | null;
}

/** An item of a request's input or of a response's output. Only `type` is certain. */
export interface Item {
  readonly type: string;
  readonly id?: string;
  readonly status?: string;
  readonly role?: string;
  readonly content?: string | readonly ContentPart[] | null;
  readonly summary?: readonly ContentPart[];
  readonly call_id?: string;
  readonly name?: string;
  readonly server_label?: string;
  readonly arguments?: string;
  readonly input?: string;
  readonly code?: string | null;
  readonly output?: unknown;
  readonly outputs?: unknown;
  readonly error?: unknown;
  readonly approval_request_id?: string | null;
  readonly approve?: boolean;
  readonly [field: string]: unknown;
}

export interface ResponseProblem {
  readonly code: string;
  readonly message: string;
}

export interface ResponseObject {
  readonly id: string;
  readonly created_at: number;
  readonly completed_at: number | null;
  readonly status: RunStatus;
  readonly incomplete_details: { readonly reason: string } | null;
  readonly model: string;
  readonly previous_response_id: string | null;
  readonly instructions: unknown;
  readonly output: readonly Item[];
  readonly store: boolean;
  readonly error: ResponseProblem | null;
  readonly tools: readonly Item[];
  readonly text: { readonly format: { readonly type: string; readonly schema?: unknown } };
  readonly temperature: number;
  readonly max_output_tokens: number | null;
  readonly reasoning: { readonly effort: string | null };
  readonly usage: {
    readonly input_tokens: number;
    readonly output_tokens: number;
    readonly total_tokens: number;
  } | null;
  readonly warnings?: readonly ResponseProblem[];
}

/** Whether a response can still change. */
export function isRunning(status: RunStatus): boolean {
  return status === "queued" || status === "in_progress";
}

/** The text of a message, of a thought, or of what a tool is called with. */
export function textOf(item: Item): string {
  switch (item.type) {
    case "message":
      return textOfParts(item.content);
    case "reasoning":
      return textOfParts(item.summary?.length ? item.summary : item.content);
    case "custom_tool_call":
      return item.input ?? "";
    case "code_interpreter_call":
      return item.code ?? "";
    default:
      return item.arguments ?? "";
  }
}

function textOfParts(content: Item["content"] | readonly ContentPart[]): string {
  if (typeof content === "string") return content;
  return (content ?? []).flatMap(({ text }) => text ?? []).join("\n\n");
}

/** The images of a message that are in the message itself. Others would be requests to elsewhere. */
export function imagesOf(item: Item): string[] {
  return partsOf(item).flatMap((part) => imageOf(part) ?? []);
}

/** What else a message has, such as files: it is named, and sent again when the message is edited. */
export function otherPartsOf(item: Item): ContentPart[] {
  return partsOf(item).filter((part) => part.text === undefined && imageOf(part) === undefined);
}

function imageOf({ image_url: image }: ContentPart): string | undefined {
  const url = typeof image === "string" ? image : image?.url;
  return url !== undefined && /^data:image\/(?:png|jpeg|gif|webp);base64,/i.test(url) ? url : undefined;
}

function partsOf({ content }: Item): readonly ContentPart[] {
  return Array.isArray(content) ? (content as readonly ContentPart[]) : [];
}
