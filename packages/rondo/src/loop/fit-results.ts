// Long results of tools: the model reads the beginning, the end, and how to get the rest. The conversation keeps them
// whole, so that what is left out can be read on at any time, also after a crash.

import type { AssistantMessage, Message, ToolMessage } from "../model/message.ts";
import { guessTokens } from "../model/text-tokens.ts";
import { tool } from "../tool/define.ts";
import type { AnyTool } from "../tool/tool.ts";

/** The part of a known window that one result may have, and the tokens where the window is unknown. */
const [shareOfWindow, tokensByDefault] = [0.25, 8000];
/** How much of the limit goes to the beginning, to the end, and to a part that is read on. */
const [headShare, tailShare, partShare] = [0.6, 0.25, 0.9];
/** The density of tokens is taken from so many characters. */
const sampleLength = 65_536;

/** How many tokens of a result the model reads at once. */
export function resultLimit(maxResultTokens: number | undefined, contextWindow: number | undefined): number {
  if (maxResultTokens !== undefined) return maxResultTokens;
  return contextWindow === undefined ? tokensByDefault : Math.ceil(contextWindow * shareOfWindow);
}

/** The usual name of the tool that reads on. */
export const readerName = "read_result";

export class ResultFitter {
  readonly #maxTokens: number;
  readonly #readerName: string;
  /** Each message as the model reads it. */
  readonly #views = new WeakMap<ToolMessage, ToolMessage>();

  constructor(maxTokens: number, readerName: string) {
    this.#maxTokens = maxTokens;
    this.#readerName = readerName;
  }

  /** A message as the model reads it: the same if it fits. `id` is what the model reads on by. */
  view(message: ToolMessage, id: string): ToolMessage {
    // A text has hardly more tokens than characters.
    if (message.content.length <= this.#maxTokens) return message;
    const known = this.#views.get(message);
    if (known) return known;
    const view = this.#shorten(message, id);
    this.#views.set(message, view);
    return view;
  }

  /** The part of a result from `offset` on. */
  read(content: string, id: string, offset: number): string {
    const end = boundary(content, offset + this.#charactersFor(content, partShare));
    const part = content.slice(boundary(content, offset), end);
    if (end < content.length) return `${part}\n\n[${this.#howToReadOn(content.length - end, id, end)}]`;
    if (part !== "") return part;
    return `There is nothing at offset ${offset}: the result has ${content.length} characters.`;
  }

  #shorten(message: ToolMessage, id: string): ToolMessage {
    const { content } = message;
    if (content.length * densityOf(content) <= this.#maxTokens) return message;
    const headEnd = boundary(content, this.#charactersFor(content, headShare));
    const tailStart = boundary(content, content.length - this.#charactersFor(content, tailShare));
    if (tailStart <= headEnd) return message;
    const note = this.#howToReadOn(tailStart - headEnd, id, headEnd);
    return {
      ...message,
      content: `${content.slice(0, headEnd)}\n\n[${note}]\n\n${content.slice(tailStart)}`,
    };
  }

  #charactersFor(content: string, share: number): number {
    return Math.max(1, Math.floor((this.#maxTokens * share) / densityOf(content)));
  }

  #howToReadOn(left: number, id: string, offset: number): string {
    return `${left} characters are left out here. To read on, call ${this.#readerName} with ${JSON.stringify({ id, offset })}.`;
  }
}

/** The ids of results, as the model knows them: the numbers of their calls. Takes the messages in order. */
export class ResultIds {
  readonly #numbers = new Map<string, number>();
  #calls = 0;
  #results = 0;

  count({ tool_calls: calls = [] }: AssistantMessage): void {
    for (const { id } of calls) this.#numbers.set(id, this.#calls++);
  }

  of({ tool_call_id: id }: ToolMessage): string {
    const place = this.#results++;
    return `result_${this.#numbers.get(id) ?? place}`;
  }
}

/** The messages with their long results as the model reads them, to count them. */
export function shortenResults(messages: readonly Message[], maxTokens: number): Message[] {
  const fitter = new ResultFitter(maxTokens, readerName);
  return messages.map((message) => (message.role === "tool" ? fitter.view(message, "result_0") : message));
}

/** The tool that reads on. It sees the results of its own conversation, and no others. */
export function resultReader(
  name: string,
  fitter: () => ResultFitter,
  messages: () => readonly Message[],
): AnyTool {
  return tool(
    {
      name,
      description: "Reads on in a long result of a tool, of which only the beginning and the end were shown.",
      input: {
        id: { type: "string", description: "The id of the result, as it was shown." },
        offset: { type: "integer", minimum: 0, description: "The character to read on from." },
      },
      idempotent: true,
      registry: false,
    },
    async ({ id, offset }) => {
      const ids = new ResultIds();
      for (const message of messages())
        if (message.role === "assistant") ids.count(message);
        else if (message.role === "tool" && ids.of(message) === id)
          return fitter().read(message.content, id, offset);
      throw new Error(`There is no result with the id '${id}'. Take the id from the shortened result.`);
    },
  );
}

/** Tokens per character, by a sample of the beginning. Never 0. */
function densityOf(content: string): number {
  const sample = content.slice(0, sampleLength);
  return Math.max(0.01, guessTokens(sample) / Math.max(1, sample.length));
}

/** A place to cut that does not split a character. */
function boundary(content: string, at: number): number {
  const index = Math.min(Math.max(0, at), content.length);
  const code = content.charCodeAt(index);
  return code >= 0xdc00 && code <= 0xdfff ? index - 1 : index;
}
