// The conversation: messages in the shape of the chat-completions API, which every model server understands.

/** A part of a user's message: text or an image. */
export type ContentPart =
  | { type: "text"; text: string }
  | { type: "image_url"; image_url: { url: string; detail?: "low" | "high" | "auto" } };

/** A tool call of a model. The arguments are JSON text, as the model wrote it. */
export interface ToolCall {
  id: string;
  type: "function";
  function: { name: string; arguments: string };
}

export interface SystemMessage {
  role: "system";
  content: string;
}

export interface UserMessage {
  role: "user";
  content: string | ContentPart[];
}

export interface AssistantMessage {
  role: "assistant";
  content: string | null;
  tool_calls?: ToolCall[];
  /** What the model thought before its answer. Sent back only as its profile says. */
  reasoning?: string;
}

export interface ToolMessage {
  role: "tool";
  tool_call_id: string;
  name?: string;
  content: string;
}

/** One message of a conversation. */
export type Message = SystemMessage | UserMessage | AssistantMessage | ToolMessage;
