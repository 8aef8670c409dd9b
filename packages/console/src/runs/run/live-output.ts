// The output of a run while it grows, from the events of its stream.

import type { Item } from "../../api/response.ts";
import type { ServerEvent } from "../../api/sse.ts";

/** Where the text of an event goes, by its type. */
const grows: Readonly<Record<string, string>> = {
  "response.output_text.delta": "content",
  "response.reasoning_text.delta": "content",
  "response.reasoning_summary_text.delta": "summary",
  "response.function_call_arguments.delta": "arguments",
  "response.mcp_call_arguments.delta": "arguments",
  "response.custom_tool_call_input.delta": "input",
};

const partTypes: Readonly<Record<string, string>> = {
  "response.output_text.delta": "output_text",
  "response.reasoning_text.delta": "reasoning_text",
  "response.reasoning_summary_text.delta": "summary_text",
};

export class LiveOutput {
  /** The last event that was read; -1 before the first. */
  sequence = -1;
  /** Whether an event told that the run is over. */
  isOver = false;
  readonly #items: Item[] = [];
  /** New text by item and field, until it is taken. */
  readonly #added = new Map<number, Map<string, { text: string; part: string | undefined }>>();

  read(event: ServerEvent): void {
    this.sequence = Math.max(this.sequence, event.sequence_number ?? -1);
    const { type, item, delta } = event;
    const index = typeof event["output_index"] === "number" ? event["output_index"] : undefined;
    if (type === "response.output_item.added" || type === "response.output_item.done") {
      if (index === undefined || index > this.#items.length || typeof item !== "object" || item === null)
        return;
      this.#items[index] = item as Item;
      this.#added.delete(index);
    } else if (/^response\.(?:completed|incomplete|failed|cancelled)$/.test(type)) this.isOver = true;
    else if (index !== undefined && typeof delta === "string") this.#grow(index, type, delta);
  }

  /** The items so far. One that did not change is the same object as before. */
  take(): readonly Item[] {
    for (const [index, fields] of this.#added) {
      const item = this.#items[index];
      if (!item) continue;
      const grown = [...fields].map(([field, { text, part }]) => [field, addText(item[field], text, part)]);
      this.#items[index] = { ...item, ...(Object.fromEntries(grown) as object) };
    }
    this.#added.clear();
    return [...this.#items];
  }

  #grow(index: number, type: string, delta: string): void {
    const field = grows[type];
    if (field === undefined) return;
    const fields = this.#added.get(index) ?? new Map<string, { text: string; part: string | undefined }>();
    this.#added.set(index, fields);
    fields.set(field, { text: (fields.get(field)?.text ?? "") + delta, part: partTypes[type] });
  }
}

function addText(value: unknown, text: string, part: string | undefined): unknown {
  if (part === undefined) return `${typeof value === "string" ? value : ""}${text}`;
  const parts = Array.isArray(value) ? (value as { text?: string }[]) : [];
  const last = parts.at(-1);
  return [...parts.slice(0, -1), { type: part, ...last, text: (last?.text ?? "") + text }];
}
