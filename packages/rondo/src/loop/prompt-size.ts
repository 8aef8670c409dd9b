// How small the prompt of a request can be in tokens, whatever the tokenizer.

import type { Message } from "../model/message.ts";
import type { ModelRequest } from "../model/provider.ts";
import { oncePerDefinition } from "../tool/definition.ts";

/** What of a text bounds its tokens, at no cost. */
export interface PromptSize {
  readonly characters: number;
  /** The most tokens that it may have, with what templates may leave out. */
  readonly most: number;
}

/** What templates write around a message, and what an image may cost. */
const [mostPerMessage, mostPerImage] = [32, 8192];

/** The size of what chat templates certainly write: texts, calls and tools. Not images, nor thinking, which they drop. */
export function sizeOf(parts: readonly unknown[]): PromptSize {
  let [characters, more] = [0, 0];
  visitTexts(
    parts,
    (text) => {
      characters += text.length;
    },
    (tokens) => {
      more += tokens;
    },
  );
  return { characters, most: characters + more };
}

/** The same for definitions of tools. */
export function sizeOfTools(tools: ModelRequest["tools"] = []): PromptSize {
  let [characters, most] = [0, 0];
  for (const tool of tools) {
    const size = sizeOfTool(tool);
    characters += size.characters;
    most += size.most;
  }
  return { characters, most };
}

const sizeOfTool = oncePerDefinition((tool) => sizeOf(toolParts([tool])));

/**
 * The runs of letters and of digits: tokens do not reach across them. Four ideographs count as one. Reads all text, so
 * that it is only asked for when a count looks too small.
 */
export function runsOf(parts: readonly unknown[]): number {
  let runs = 0;
  visitTexts(parts, (text) => {
    runs += runsOfText(text);
  });
  return runs;
}

/** The characters that messages keep in memory, images included. */
export function lengthOf(messages: readonly Message[]): number {
  let length = 0;
  for (const message of messages) {
    const { content } = message;
    if (typeof content === "string") length += content.length;
    else
      for (const part of content ?? [])
        length += part.type === "text" ? part.text.length : part.image_url.url.length;
    if (message.role !== "assistant") continue;
    length += message.reasoning?.length ?? 0;
    for (const call of message.tool_calls ?? []) length += call.function.arguments.length;
  }
  return length;
}

/** The tools of a request, as templates write them. */
export function toolParts(tools: ModelRequest["tools"]): readonly unknown[] {
  return (tools ?? []).map((tool) => tool.function);
}

/** Fields whose text a template may leave out. */
const dropped = new Set(["reasoning", "image_url", "role", "type", "id", "tool_call_id"]);

/** Visits all texts that templates certainly write. `onMore` gets the tokens that may come on top. */
function visitTexts(
  value: unknown,
  onText: (text: string) => void,
  onMore: (tokens: number) => void = () => {},
): void {
  if (typeof value === "string") onText(value);
  else if (Array.isArray(value)) for (const part of value) visitTexts(part, onText, onMore);
  else if (typeof value === "object" && value !== null) {
    onMore(mostPerMessage);
    for (const key in value) {
      const part = (value as Record<string, unknown>)[key];
      if (!dropped.has(key)) visitTexts(part, onText, onMore);
      else if (key === "image_url") onMore(mostPerImage);
      else if (typeof part === "string") onMore(part.length);
    }
  }
}

function runsOfText(text: string): number {
  let runs = 0;
  let previous: Kind = kinds.other;
  for (let index = 0; index < text.length; index += 1) {
    const kind = kindOf(text.charCodeAt(index));
    if (kind === kinds.wide) runs += 0.25;
    else if (kind !== kinds.other && kind !== previous) runs += 1;
    previous = kind;
  }
  return runs;
}

const kinds = { other: 0, letter: 1, digit: 2, wide: 3 } as const;
type Kind = (typeof kinds)[keyof typeof kinds];

function kindOf(code: number): Kind {
  if (code >= 0x2e80) return kinds.wide;
  if ((code >= 97 && code <= 122) || (code >= 65 && code <= 90) || code >= 0xc0) return kinds.letter;
  return code >= 48 && code <= 57 ? kinds.digit : kinds.other;
}
