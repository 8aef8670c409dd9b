// Turns items into messages: text, thinking and calls of one answer become one message, followed by the results in the
// order of the calls.

import type { ContentPart, JsonValue, Message, ToolCall } from "rondo";
import { invalidRequest } from "../protocol/api-error.ts";
import { markOf } from "../protocol/ids.ts";
import type { InputItem, OutputItem } from "../protocol/items.ts";
import { type CallResult, CallResults } from "./call-results.ts";
import { withSummary } from "./compaction.ts";
import { contentText, userContent } from "./content.ts";
import type { Sealer } from "./seal.ts";

/** An item on its way into the conversation. Items of different groups never share an answer. */
export interface Entry {
  readonly item: InputItem | OutputItem;
  readonly group?: string;
  /** Whether its calls may stay without an output. */
  readonly isClosed?: boolean;
}

export interface MessagesOptions {
  /** The messages of what was before the entries, and is over. Default: none. */
  readonly before?: readonly Message[] | undefined;
  /** Goes first, as a system message. */
  readonly instructions?: string | undefined;
  /** Opens sealed content; undefined if it cannot be opened. */
  readonly unseal?: Sealer["unseal"] | undefined;
  /** Calls that run now: they have no output yet, and later messages move before them. */
  readonly openCalls?: ReadonlySet<string> | undefined;
  /** Called with what is left out, for the log. */
  readonly onIgnored?: ((what: string) => void) | undefined;
}

/** Throws an `ApiError` for a call without output, or an output without a call. */
export function toMessages(entries: readonly Entry[], options: MessagesOptions = {}): Message[] {
  return new Builder(entries, options).build();
}

type Fields = Readonly<Record<string, JsonValue | undefined>>;

/** One answer of the model while its items are read. */
interface Draft {
  readonly group: string | undefined;
  /** The mark of its round, once an item has one. */
  mark: string | undefined;
  text: string;
  reasoning: string;
  readonly calls: ToolCall[];
  isClosed: boolean;
  /** Whether an output followed: the next item starts a new answer. */
  hasOutput: boolean;
}

class Builder {
  readonly #entries: readonly Entry[];
  readonly #options: MessagesOptions;
  readonly #messages: Message[] = [];
  readonly #results = new CallResults();
  #draft: Draft | undefined;
  #system: string[] = [];

  constructor(entries: readonly Entry[], options: MessagesOptions) {
    this.#entries = entries;
    this.#options = options;
    if (options.instructions) this.#system.push(options.instructions);
  }

  build(): Message[] {
    // Results first: they may come anywhere after their call.
    for (const { item } of this.#entries) this.#noteResult(item);
    this.#results.check();
    const { before = [] } = this.#options;
    if (before.length > 0) this.#endSystem();
    for (const message of before) this.#messages.push(message);
    for (const entry of this.#entries) this.#add(entry);
    this.#endAnswer();
    this.#endSystem();
    return this.#withOpenLast();
  }

  /** Moves the answer with open calls to the end: results must follow their calls directly. */
  #withOpenLast(): Message[] {
    const { openCalls } = this.#options;
    const messages = this.#messages;
    if (!openCalls || openCalls.size === 0) return messages;
    const at = messages.findLastIndex(({ role }) => role === "assistant");
    const answer = messages[at];
    const ids = new Set(answer?.role === "assistant" ? answer.tool_calls?.map(({ id }) => id) : []);
    const [late] = [...openCalls].filter((id) => !ids.has(id));
    if (late !== undefined)
      throw invalidRequest(
        "input",
        `The approval request '${late}' can no longer be answered: the conversation has gone on without it.`,
      );
    let end = at + 1;
    while (messages[end]?.role === "tool") end += 1;
    return [...messages.slice(0, at), ...messages.slice(end), ...messages.slice(at, end)];
  }

  #noteResult(item: Fields): void {
    const { type, call_id: id, output } = item;
    if (type === "function_call" || type === "custom_tool_call") this.#results.expect(asText(id));
    if (type !== "function_call_output" && type !== "custom_tool_call_output") return;
    const parts = userContent(output ?? "", this.#ignored);
    const images = typeof parts === "string" ? [] : parts.filter((part) => part.type !== "text");
    const kind = type === "custom_tool_call_output" ? "custom tool call" : "function call";
    this.#results.add(asText(id), { content: contentText(output ?? ""), images }, kind);
  }

  #add({ item, group, isClosed = false }: Entry): void {
    const fields = item as unknown as Fields;
    switch (item.type) {
      case "message":
        if (fields["role"] === "assistant") {
          // Text after calls starts the next answer.
          const target = this.#answer(group, fields, (draft) => draft.calls.length > 0);
          target.text += contentText(fields["content"] ?? "");
        } else this.#addMessage(fields);
        return;
      case "reasoning": {
        const target = this.#answer(group, fields, (draft) => draft.calls.length > 0 || draft.text !== "");
        target.reasoning += this.#thought(fields);
        return;
      }
      case "function_call":
        this.#call(group, isClosed, fields, fields["arguments"]);
        return;
      case "custom_tool_call": {
        const text = JSON.stringify({ input: fields["input"] ?? "" });
        this.#call(group, isClosed, fields, text);
        return;
      }
      case "function_call_output":
      case "custom_tool_call_output":
        if (this.#draft?.calls.some(({ id }) => id === fields["call_id"])) this.#draft.hasOutput = true;
        return;
      case "compaction_trigger":
        return; // only the last item of a request compacts
      case "additional_tools":
        return; // its tools are offered to the model
      case "compaction":
        this.#addSummary(fields);
        return;
      default:
        this.#ignored(`an item of the type '${item.type}'`);
    }
  }

  #addMessage({ role, content = "" }: Fields): void {
    this.#endAnswer();
    if (role === "user") {
      this.#endSystem();
      this.#messages.push({ role, content: userContent(content, this.#ignored) });
    } else if (this.#messages.length === 0) {
      // Many chat templates allow only one system message, at the start.
      this.#system.push(contentText(content));
    } else this.#messages.push({ role: "system", content: contentText(content) });
  }

  /** Adds the summary of a compaction. Without it, the model would lose the conversation. */
  #addSummary({ encrypted_content: sealed }: Fields): void {
    const summary = typeof sealed === "string" ? this.#options.unseal?.("compaction", sealed) : undefined;
    if (summary === undefined)
      throw invalidRequest(
        "input",
        "A compaction item cannot be read: it was not made by this server for you, or was changed. Send the conversation itself.",
        "invalid_compaction",
      );
    this.#endAnswer();
    this.#endSystem();
    this.#messages.splice(0, Infinity, ...withSummary(this.#messages, summary));
  }

  #thought({ content, summary, encrypted_content: sealed }: Fields): string {
    const open = typeof sealed === "string" ? this.#options.unseal?.("reasoning", sealed) : undefined;
    if (open !== undefined) return open;
    const text = contentText(content ?? "");
    return text === "" ? contentText(summary ?? "") : text;
  }

  #call(group: string | undefined, isClosed: boolean, item: Fields, text: unknown): void {
    const draft = this.#answer(group, item, ({ hasOutput }) => hasOutput);
    draft.isClosed ||= isClosed;
    draft.calls.push({
      id: asText(item["call_id"]),
      type: "function",
      function: {
        name: asText(item["name"]),
        arguments: typeof text === "string" && text !== "" ? text : "{}",
      },
    });
  }

  /**
   * The answer that an item belongs to. Without groups, the marks of the items' rounds say where the next begins, and
   * `isOver` for items without a mark.
   */
  #answer(group: string | undefined, { id }: Fields, isOver: (draft: Draft) => boolean): Draft {
    const draft = this.#draft;
    const mark = group === undefined ? markOf(id) : undefined;
    if (draft && draft.group === group && (group !== undefined || !isNext(draft, mark, isOver))) {
      draft.mark ??= mark;
      return draft;
    }
    this.#endAnswer();
    this.#endSystem();
    this.#draft = { group, mark, text: "", reasoning: "", calls: [], isClosed: false, hasOutput: false };
    return this.#draft;
  }

  #endAnswer(): void {
    const draft = this.#draft;
    this.#draft = undefined;
    if (!draft) return;
    const { text, reasoning, calls } = draft;
    if (text === "" && calls.length === 0) return; // a thought without an answer tells a model nothing
    this.#messages.push({
      role: "assistant",
      content: text,
      ...(calls.length > 0 && { tool_calls: calls }),
      ...(reasoning !== "" && { reasoning }),
    });
    const images: ContentPart[] = [];
    for (const { id, function: called } of calls) {
      const given = this.#results.take(id);
      if (this.#options.openCalls?.has(id)) continue;
      const result = given ?? (draft.isClosed ? notRun : undefined);
      if (!result)
        throw invalidRequest(
          "input",
          `No tool output found for function call ${id}. Send a function_call_output item for it.`,
        );
      this.#messages.push({ role: "tool", tool_call_id: id, name: called.name, content: result.content });
      images.push(...result.images);
    }
    if (images.length > 0)
      this.#messages.push({
        role: "user",
        content: [{ type: "text", text: "The images that the tools gave:" }, ...images],
      });
  }

  #endSystem(): void {
    const texts = this.#system.filter((text) => text !== "");
    this.#system = [];
    if (texts.length > 0) this.#messages.push({ role: "system", content: texts.join("\n\n") });
  }

  readonly #ignored = (what: string) => this.#options.onIgnored?.(what);
}

/** Whether an item with this mark begins the next answer. */
function isNext(draft: Draft, mark: string | undefined, isOver: (draft: Draft) => boolean): boolean {
  if (mark === undefined || draft.mark === undefined) return isOver(draft);
  return draft.mark !== mark && (draft.calls.length > 0 || isOver(draft));
}

function asText(value: JsonValue | undefined): string {
  return typeof value === "string" ? value : JSON.stringify(value ?? null);
}

const notRun: CallResult = { content: "This call was not run.", images: [] };
