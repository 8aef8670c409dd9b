// Turns the chunks of a chat-completions stream into deltas that mean the same for every server.

import type { JsonObject } from "../json/json-value.ts";
import type { ModelProfile } from "./profile.ts";
import type { FinishReason, ModelDelta, Usage } from "./provider.ts";
import { CallCollector } from "./reading/call-collector.ts";
import { isCutReason, settleFinishReason, toFinishReason } from "./reading/finish-reason.ts";
import { NewText } from "./reading/new-text.ts";
import { type ContentSink, readContent, textIn } from "./reading/read-content.ts";
import { keepTimings, readTimings, readUsage } from "./reading/read-usage.ts";
import { TextReader } from "./reading/text-reader.ts";

type Fields = Readonly<Record<string, unknown>>;

export interface ChatStreamReaderOptions {
  readonly profile: ModelProfile;
  /** The offered tools. Without any, text is never read as a tool call. */
  readonly toolNames: readonly string[];
  /** How many calls are accepted before `hasTooManyCalls`. Default: no limit. */
  readonly maxCalls?: number | undefined;
  /** Whether the deltas say what only a trace needs. Default: false. */
  readonly isTraced?: boolean | undefined;
}

/** How the bytes of an answer ended. */
export interface AnswerEnding {
  /** The stream broke off, rather than being ended by the server. */
  readonly isCutOff: boolean;
  /** The server marked the end: by `[DONE]`, or because the answer came whole. */
  readonly hasEnd: boolean;
}

/** Each warning is emitted once, and no more than these: the server chooses what they quote. */
const maxWarnings = 20;

/**
 * The state of one answer. `read` takes a parsed chunk, and `take` returns the deltas since its last call; `end`
 * returns what was held back, the ends of the calls, and `finished`. None of them throws: what cannot be understood is
 * skipped with a `warning`.
 */
export class ChatStreamReader {
  readonly #reasoningFields: readonly string[];
  readonly #options: ChatStreamReaderOptions;
  /** Both are made when they are needed: most answers have text or calls, not both. */
  #textReader: TextReader | undefined;
  #collector: CallCollector | undefined;
  readonly #content: ContentSink;
  #warned: Set<string> | undefined;
  /** Text that was not searched for markup yet: many small pieces cost more than a long one. */
  #unread = "";
  #deltas: ModelDelta[] = [];
  #reason: FinishReason | undefined;
  #isCutByReason = false;
  #usage: Usage | undefined;
  #timings: Usage | undefined;
  #measured: JsonObject | undefined;
  /** Whether any `delta` had content: a `message` then only repeats it. */
  #hasDelta = false;
  #isEnded = false;
  /** What the answer has. */
  #hasText = false;
  #hasThinking = false;

  constructor(options: ChatStreamReaderOptions) {
    const { profile } = options;
    const isCumulative = profile.text === "cumulative";
    this.#options = options;
    this.#reasoningFields = profile.reasoningFields;
    if (profile.startsThinking) void this.#text;
    const newText = isCumulative ? new NewText() : undefined;
    const newThinking = isCumulative ? new NewText() : undefined;
    this.#content = {
      text: (text) => {
        this.#unread += newText ? newText.next(text) : text;
      },
      thinking: (text) => this.#think(newThinking ? newThinking.next(text) : text),
      skipped: (what) => this.#warn(`Skipped ${what}, which is neither text nor thinking.`),
    };
  }

  get #text(): TextReader {
    const { profile, toolNames } = this.#options;
    this.#textReader ??= new TextReader(profile, toolNames, {
      text: (text) => this.#push("text.delta", text),
      thinking: (text) => this.#push("thinking.delta", text),
      call: (call) => this.#calls.addTextCall(call),
      warn: (message) => this.#warn(message),
    });
    return this.#textReader;
  }

  get #calls(): CallCollector {
    const { profile, toolNames, maxCalls, isTraced = false } = this.#options;
    this.#collector ??= new CallCollector({
      toolNames,
      isCumulative: profile.text === "cumulative",
      maxCalls,
      isTraced,
      emit: (delta) => this.#deltas.push(delta),
    });
    return this.#collector;
  }

  get #callCount(): number {
    return this.#collector?.count ?? 0;
  }

  /** Whether anything of the answer came: text, thinking or a call, even if it is held back. */
  get hasContent(): boolean {
    return this.#hasDelta;
  }

  /** Whether the model made more calls than are accepted. */
  get hasTooManyCalls(): boolean {
    return this.#collector?.hasTooMany ?? false;
  }

  /** Takes one chunk. */
  read(chunk: unknown): void {
    try {
      this.#readChunk(chunk);
    } catch (error) {
      // Parsed JSON cannot throw; objects with getters can.
      this.#warn(
        `Skipped a chunk that could not be read: ${error instanceof Error ? error.message : "unknown"}.`,
      );
    }
  }

  /** Takes a chunk that differs from an earlier one only in the text of a field. False if that field is another. */
  readText(field: string, text: string): boolean {
    if (this.#isEnded || (field !== "content" && !this.#reasoningFields.includes(field))) return false;
    this.#hasDelta ||= text !== "";
    if (field === "content") this.#content.text(text);
    else this.#content.thinking(text);
    return true;
  }

  /** The deltas since the last call. */
  take(): ModelDelta[] {
    this.#readText();
    const deltas = this.#deltas;
    this.#deltas = [];
    return deltas;
  }

  /** Ends the answer. */
  end({ isCutOff, hasEnd }: AnswerEnding): ModelDelta[] {
    if (this.#isEnded) return [];
    this.#isEnded = true;
    this.#readText();
    this.#textReader?.end({
      hasOtherCalls: this.#callCount > 0,
      isCutOff: isCutOff || this.#isCutByReason,
    });
    const hasReason = this.#reason !== undefined;
    this.#collector?.end({ isCutOff: isCutOff || this.#isCutByReason, hasReason, hasEnd });
    const isSilent = this.#hasThinking && !this.#hasText && this.#callCount === 0;
    if (isSilent && !isCutOff && !this.#isCutByReason)
      this.#warn("The answer has only thinking: the model said nothing after it.");
    const finishReason = settleFinishReason(this.#reason, { hasCalls: this.#callCount > 0, isCutOff });
    const usage = this.#usage ?? this.#timings;
    const timings = this.#measured;
    this.#deltas.push({ type: "finished", finishReason, usage, ...(timings && { timings }) });
    return this.take();
  }

  /** Searches the pending text for markup, before anything else is emitted. */
  #readText(): void {
    if (this.#unread === "") return;
    const text = this.#unread;
    this.#unread = "";
    this.#text.write(text);
  }

  #readChunk(chunk: unknown): void {
    if (this.#isEnded || !isFields(chunk)) {
      this.#warn(`Skipped a chunk that ${this.#isEnded ? "came after the end" : "is not an object"}.`);
      return;
    }
    const { choices, usage, timings, x_groq: groq } = chunk;
    if (usage !== undefined) this.#usage = readUsage(usage) ?? this.#usage;
    else if (isFields(groq)) this.#usage = readUsage(groq["usage"]) ?? this.#usage;
    if (timings !== undefined) {
      this.#timings = readTimings(timings) ?? this.#timings;
      if (this.#options.isTraced) this.#measured = keepTimings(timings) ?? this.#measured;
    }
    if (Array.isArray(choices)) for (const choice of choices as unknown[]) this.#readChoice(choice);
    else if (choices !== undefined && choices !== null)
      this.#warn("Skipped a chunk whose 'choices' is not a list.");
  }

  #readChoice(choice: unknown): void {
    if (!isFields(choice) || (typeof choice["index"] === "number" && choice["index"] > 0)) {
      this.#warn(
        `Skipped a choice that is ${isFields(choice) ? "not the first: one was asked for" : "not an object"}.`,
      );
      return;
    }
    const { delta, message, text, finish_reason: reason, usage } = choice;
    if (isFields(delta)) this.#readDelta(delta);
    else if (delta !== undefined && delta !== null) this.#warn("Skipped a delta that is not an object.");
    // Servers that cannot stream send the whole message; others repeat it at the end.
    if (isFields(message) && !this.#hasDelta) this.#readDelta(message);
    else if (typeof text === "string" && delta === undefined) this.#readDelta({ content: text });
    if (typeof reason === "string" && reason !== "") {
      this.#reason = toFinishReason(reason);
      this.#isCutByReason = isCutReason(reason);
    }
    if (usage !== undefined) this.#usage = readUsage(usage) ?? this.#usage;
  }

  #readDelta(delta: Fields): void {
    for (const field of this.#reasoningFields) {
      const value = delta[field];
      if (value === undefined || value === null || value === "") continue;
      const thinking = textIn(value);
      if (thinking === "") continue;
      this.#hasDelta = true;
      this.#content.thinking(thinking);
      break;
    }
    const { content, refusal, tool_calls: calls, function_call: call } = delta;
    if (content !== undefined && content !== null && content !== "") {
      this.#hasDelta = true;
      readContent(content, this.#content);
    }
    if (typeof refusal === "string" && refusal !== "") this.#content.text(refusal);
    if (Array.isArray(calls)) this.#readCalls(calls);
    else if (isFields(calls)) this.#readCalls([calls]);
    else if (calls !== undefined && calls !== null) this.#warn("Skipped 'tool_calls' that is not a list.");
    if (isFields(call)) this.#readCalls([{ index: "function_call", function: call }]);
  }

  #readCalls(entries: readonly unknown[]): void {
    if (entries.length === 0) return;
    this.#hasDelta = true;
    this.#readText();
    if (this.#calls.addPieces(entries) > 0)
      this.#warn("Skipped an entry of 'tool_calls' that has no id, name or arguments.");
  }

  #think(text: string): void {
    if (text === "") return;
    this.#readText();
    this.#text.thinkingCameSeparately();
    this.#push("thinking.delta", text);
  }

  /** Merges text with a preceding delta of the same type. */
  #push(type: "text.delta" | "thinking.delta", text: string): void {
    if (text === "") return;
    if (type === "text.delta") this.#hasText = true;
    else this.#hasThinking = true;
    const last = this.#deltas.length - 1;
    const previous = this.#deltas[last];
    if (previous?.type === type) this.#deltas[last] = { type, text: previous.text + text };
    else this.#deltas.push({ type, text });
  }

  /** Emits each warning once: a server with a fault has it in every chunk. */
  #warn(message: string): void {
    this.#warned ??= new Set();
    if (this.#warned.has(message) || this.#warned.size >= maxWarnings) return;
    this.#warned.add(message);
    this.#readText();
    this.#deltas.push({ type: "warning", message });
  }
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
