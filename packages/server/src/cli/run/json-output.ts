// A run as JSON, one object per line. The names are public: they never change after a release.

import { inspect } from "node:util";
import type { CliIo } from "../cli-io.ts";
import type { RunEvent, RunOutput } from "./run-event.ts";

export function jsonOutput(io: CliIo): RunOutput {
  const startedAt = performance.now();
  const line = (value: object) => io.write(`${toJson(value)}\n`);
  const elapsed = () => ({ elapsedMs: Math.round(performance.now() - startedAt) });
  return {
    started: (kind, file) => line({ type: "run.started", kind, file }),
    event(event) {
      const shown = toLine(event);
      if (shown) line(shown);
    },
    finished({ reason, usage }) {
      const tokens = usage && { inputTokens: usage.inputTokens, outputTokens: usage.outputTokens };
      line({ type: "run.finished", reason, usage: tokens ?? null, ...elapsed() });
    },
    failed(error) {
      const message = error instanceof Error ? error.message : String(error);
      line({ type: "run.failed", message, ...elapsed() });
    },
  };
}

function toLine(event: RunEvent): object | undefined {
  switch (event.type) {
    case "text":
      return { type: "text.delta", text: event.text };
    case "thinking":
      return { type: "thinking.delta", text: event.text };
    case "call.delta":
      return undefined;
    case "call":
      return { type: "tool.started", id: event.id, name: event.name, input: readInput(event.input) };
    case "result": {
      const { id, name, output, isError } = event;
      return { type: "tool.finished", id, name, result: output ?? null, isError };
    }
    case "notice":
      return { type: "run.notice", message: event.text };
    case "turn.value":
      return { ...event, value: event.value ?? null };
    case "value":
      return { type: "run.value", value: event.value ?? null };
    default:
      return event;
  }
}

/** A server sends arguments as JSON text. */
function readInput(input: unknown): unknown {
  if (typeof input !== "string") return input;
  try {
    return JSON.parse(input) as unknown;
  } catch {
    return input;
  }
}

/** Values come from people's code: one that JSON cannot hold is written as text, and does not end the run. */
function toJson(value: object): string {
  try {
    return JSON.stringify(value);
  } catch {
    const entries = Object.entries(value).map(([name, it]) => {
      try {
        return [name, JSON.parse(JSON.stringify(it) ?? "null") as unknown];
      } catch {
        return [name, inspect(it)];
      }
    });
    return JSON.stringify(Object.fromEntries(entries));
  }
}
