// Reads the text and the thinking of one delta, in all shapes that servers send.

/** Receives the pieces, in order. `skipped` receives the type of a part that is neither. */
export interface ContentSink {
  text(text: string): void;
  thinking(text: string): void;
  skipped(what: string): void;
}

/** `content`: a string, or parts of several types. */
export function readContent(content: unknown, sink: ContentSink): void {
  if (typeof content === "string") sink.text(content);
  else if (Array.isArray(content)) for (const part of content) readPart(part, sink);
  else if (typeof content === "object" && content !== null) readPart(content, sink);
  else if (content !== undefined && content !== null) sink.skipped(`content of type ${typeof content}`);
}

function readPart(part: unknown, sink: ContentSink): void {
  const fields = (typeof part === "object" && part !== null ? part : {}) as Record<string, unknown>;
  const { type, text, thinking, reasoning } = fields;
  if (typeof part === "string") sink.text(part);
  else if (type === "thinking" || type === "reasoning")
    sink.thinking(textIn(thinking ?? reasoning ?? text ?? part));
  else if (typeof text === "string") sink.text(text);
  else
    sink.skipped(
      typeof type === "string" ? `a part of type '${type.slice(0, 40)}'` : "a part of the content",
    );
}

/** The text of a reasoning field: a string, or a list of objects that have it as text, summary or content. */
export function textIn(value: unknown, depth = 0): string {
  if (typeof value === "string") return value;
  if (typeof value !== "object" || value === null || depth > 4) return "";
  if (Array.isArray(value)) return value.map((item) => textIn(item, depth + 1)).join("");
  const { text, summary, content, thinking } = value as Record<string, unknown>;
  return textIn(text ?? summary ?? content ?? thinking, depth + 1);
}
