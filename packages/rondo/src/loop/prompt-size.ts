// How small the prompt of a request can be in tokens, whatever the tokenizer.

import type { ModelRequest } from "../model/provider.ts";

/** What of a text bounds its tokens. */
export interface PromptSize {
  /** Runs of letters and of digits: tokens do not reach across them. Four ideographs count as one. */
  readonly runs: number;
  readonly characters: number;
  /** The most tokens that it may have, with what templates may leave out. */
  readonly most: number;
}

const emptySize: PromptSize = { runs: 0, characters: 0, most: 0 };
/** What templates write around a message, and what an image may cost. */
const [mostPerMessage, mostPerImage] = [32, 8192];

export function addSizes(one: PromptSize, other: PromptSize): PromptSize {
  return {
    runs: one.runs + other.runs,
    characters: one.characters + other.characters,
    most: one.most + other.most,
  };
}

/** The size of what chat templates certainly write: texts, calls and tools. Not images, nor thinking, which they drop. */
export function sizeOf(parts: readonly unknown[]): PromptSize {
  return parts.reduce<PromptSize>((sum, part) => addSizes(sum, sizeOfPart(part)), emptySize);
}

/** The tools of a request, as templates write them. */
export function sizeOfTools(tools: ModelRequest["tools"]): PromptSize {
  return sizeOf((tools ?? []).map((tool) => tool.function));
}

/** Fields whose text a template may leave out. */
const dropped = new Set(["reasoning", "image_url", "role", "type", "id", "tool_call_id"]);

function sizeOfPart(value: unknown): PromptSize {
  if (typeof value === "string") return sizeOfText(value);
  if (typeof value !== "object" || value === null) return emptySize;
  if (Array.isArray(value)) return sizeOf(value);
  const fields = Object.entries(value).map(([key, part]) => {
    if (!dropped.has(key)) return sizeOfPart(part);
    return { ...emptySize, most: key === "image_url" ? mostPerImage : String(part).length };
  });
  return fields.reduce(addSizes, { ...emptySize, most: mostPerMessage });
}

function sizeOfText(text: string): PromptSize {
  let runs = 0;
  let previous: Kind = kinds.other;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    const kind = kindOf(code);
    if (kind === kinds.wide) runs += 0.25;
    else if (kind !== kinds.other && kind !== previous) runs += 1;
    previous = kind;
  }
  return { runs, characters: text.length, most: text.length };
}

const kinds = { other: 0, letter: 1, digit: 2, wide: 3 } as const;
type Kind = (typeof kinds)[keyof typeof kinds];

function kindOf(code: number): Kind {
  if (code >= 0x2e80) return kinds.wide;
  if ((code >= 97 && code <= 122) || (code >= 65 && code <= 90) || code >= 0xc0) return kinds.letter;
  return code >= 48 && code <= 57 ? kinds.digit : kinds.other;
}
