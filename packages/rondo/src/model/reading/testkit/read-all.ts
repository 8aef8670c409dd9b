// Runs chunks through a reader and sums up what came out.

import { ChatStreamReader } from "../../chat-stream-reader.ts";
import type { ModelProfile } from "../../profile.ts";
import { commonProfile } from "../../profiles.ts";
import type { FinishReason, ModelDelta, Usage } from "../../provider.ts";

export interface Summary {
  text: string;
  thinking: string;
  calls: { name: string; arguments: string; isTruncated: boolean }[];
  ids: string[];
  warnings: string[];
  finishReason: FinishReason | undefined;
  usage: Usage | undefined;
  deltas: ModelDelta[];
}

export interface ReadOptions {
  profile?: Partial<ModelProfile>;
  toolNames?: readonly string[];
  isCutOff?: boolean;
  /** Default: true, as if `[DONE]` had come. */
  hasEnd?: boolean;
  maxCalls?: number;
}

/** Reads chunks of any kind. */
export function readAll(chunks: readonly unknown[], options: ReadOptions = {}): Summary {
  const { profile, toolNames = ["add", "ping", "get_weather"], isCutOff = false, hasEnd = true } = options;
  const reader = new ChatStreamReader({
    profile: { ...commonProfile, ...profile },
    toolNames,
    maxCalls: options.maxCalls,
  });
  const deltas = chunks.flatMap((chunk) => {
    reader.read(chunk);
    return reader.take();
  });
  deltas.push(...reader.end({ isCutOff, hasEnd }));
  return summarize(deltas);
}

/** Reads pieces of text, each as the `content` of a delta. */
export function readText(pieces: readonly unknown[], options?: ReadOptions): Summary {
  return readAll(
    pieces.map((content) => chunkOf({ content })),
    options,
  );
}

export function chunkOf(delta: unknown, finishReason: string | null = null): unknown {
  return { object: "chat.completion.chunk", choices: [{ index: 0, delta, finish_reason: finishReason }] };
}

/** Tool-call pieces, each list as one chunk. */
export function callChunks(...lists: readonly (readonly unknown[])[]): unknown[] {
  return lists.map((tool_calls) => chunkOf({ tool_calls }));
}

function summarize(deltas: readonly ModelDelta[]): Summary {
  const summary: Summary = {
    text: "",
    thinking: "",
    calls: [],
    ids: [],
    warnings: [],
    finishReason: undefined,
    usage: undefined,
    deltas: [...deltas],
  };
  for (const delta of deltas) {
    if (delta.type === "text.delta") summary.text += delta.text;
    else if (delta.type === "thinking.delta") summary.thinking += delta.text;
    else if (delta.type === "warning") summary.warnings.push(delta.message);
    else if (delta.type === "call.ended") {
      const { id, name, arguments: text, isTruncated } = delta;
      summary.calls.push({ name, arguments: text, isTruncated });
      summary.ids.push(id);
    } else if (delta.type === "finished") {
      summary.finishReason = delta.finishReason;
      summary.usage = delta.usage;
    }
  }
  return summary;
}
