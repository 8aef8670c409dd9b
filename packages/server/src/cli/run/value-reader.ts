// Turns the values of people's code into events: text, blocks and messages of the library, and all else.

import type { Block, ResultMessage, Turn, TurnValue } from "rondo";
import { addUsage, BlockEvents, type ChatUsage, type EndReason, endReasons } from "../chat/chat-events.ts";
import type { Emit, Ending, RunEvent } from "./run-event.ts";

const blockTypes: ReadonlySet<unknown> = new Set<Block["type"]>([
  "text",
  "thinking",
  "tool_use",
  "tool_use_error",
  "tool_use_delta",
  "tool_result",
  "server_event",
]);

/** The built-in tool as whose turn an agent asks its model. */
const thinkingTool = "think";

export class ValueReader {
  readonly #blocks = new BlockEvents();
  #usage: ChatUsage | undefined;
  #reason: EndReason = "completed";

  /** How the run ended, after all values. */
  get ending(): Ending {
    return { reason: this.#reason, usage: this.#usage };
  }

  /** The events of one value. `turn` is the turn that produced it, if any. */
  *read(value: unknown, turn?: Turn): Generator<RunEvent, void, void> {
    if (!turn && isTurnValue(value)) {
      yield* this.read(value[1], value[0]);
      return;
    }
    if (!turn || isThinking(turn)) {
      if (value === undefined) return;
      if (typeof value === "string") {
        yield { type: "text", text: value };
        return;
      }
      if (isBlock(value)) {
        for (const event of this.#blocks.read(value)) if (event.type !== "end") yield event;
        return;
      }
      if (isResult(value)) {
        this.#end(value);
        return;
      }
      const { type, content } = Object(value) as { type?: unknown; content?: unknown };
      // Messages of `query()`: those of the model and of its tools are lists of blocks.
      if ((type === "assistant" || type === "user") && Array.isArray(content)) {
        for (const block of content) yield* this.read(block);
        return;
      }
      if (type === "system" && (value as { subtype?: unknown }).subtype === "init") return;
    }
    yield turn ? { type: "turn.value", ...ofTurn(turn), value } : { type: "value", value };
  }

  #end({ usage, stopReason }: ResultMessage): void {
    this.#usage = addUsage(this.#usage, usage);
    const reason = endReasons[stopReason];
    if (reason !== "completed") this.#reason = reason;
  }
}

/** Emits the events of a value, or of each value of a stream. Leaves the stream when the signal is aborted. */
export async function showValues(given: unknown, emit: Emit, signal: AbortSignal): Promise<Ending> {
  const reader = new ValueReader();
  const show = (value: unknown) => {
    for (const event of reader.read(value)) emit(event);
  };
  const iterator = (Object(given) as Partial<AsyncIterable<unknown>>)[Symbol.asyncIterator]?.call(given);
  if (!iterator) {
    show(given);
    return reader.ending;
  }
  let leaving: Promise<unknown> | undefined;
  const leave = () => {
    leaving = Promise.resolve(iterator.return?.()).catch(() => {});
  };
  signal.addEventListener("abort", leave);
  try {
    for (let step = await iterator.next(); !signal.aborted; step = await iterator.next()) {
      show(step.value);
      if (step.done) break;
    }
  } finally {
    signal.removeEventListener("abort", leave);
    await leaving;
  }
  return reader.ending;
}

/** The id and tool of a turn, for events. */
export function ofTurn({ uuid, tool }: Turn): { turn: string; tool: string } {
  return { turn: uuid, tool: tool.name };
}

export function isThinking({ tool }: Turn): boolean {
  return tool.name === thinkingTool;
}

function isBlock(value: unknown): value is Block {
  return blockTypes.has((Object(value) as { type?: unknown }).type);
}

function isResult(value: unknown): value is ResultMessage {
  const { type, stopReason } = Object(value) as { type?: unknown; stopReason?: unknown };
  return type === "result" && typeof stopReason === "string" && Object.hasOwn(endReasons, stopReason);
}

/** Recognised by its shape: the file may have its own copy of the library. */
function isTurnValue(value: unknown): value is TurnValue {
  if (!Array.isArray(value) || value.length !== 2) return false;
  const { uuid, tool } = Object(value[0]) as { uuid?: unknown; tool?: unknown };
  return typeof uuid === "string" && typeof (Object(tool) as { wireName?: unknown }).wireName === "string";
}
