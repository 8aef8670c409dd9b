// A run as text for people: its result on standard output, its progress on standard error.

import { inspect } from "node:util";
import { AnswerView } from "../chat/answer-view.ts";
import { cleaner, watchScreen } from "../chat/screen.ts";
import type { CliIo } from "../cli-io.ts";
import type { RunEvent, RunOutput } from "./run-event.ts";

export function textOutput(io: CliIo): RunOutput {
  const screen = watchScreen(io);
  const clean = cleaner(io);
  const view = new AnswerView({ screen, clean, draw: (text) => io.writeError(text) });
  /** A whole line, below the text so far. */
  const line = (text: string) => {
    view[Symbol.dispose]();
    screen.answer.line(clean(text));
  };
  return {
    started() {},
    event(event: RunEvent) {
      switch (event.type) {
        case "turn.started":
          view.show({ type: "call", id: event.turn, name: event.tool, input: event.input });
          return;
        case "turn.value":
          line(`${event.tool}: ${toText(event.value)}`);
          return;
        case "turn.finished":
          return;
        case "value":
          line(toText(event.value));
          return;
        default:
          view.show(event);
      }
    },
    finished: ({ reason, usage }) => view.show({ type: "end", reason, usage }),
    failed: () => view[Symbol.dispose](),
  };
}

function toText(value: unknown): string {
  if (typeof value === "string") return value;
  try {
    return JSON.stringify(value) ?? String(value);
  } catch {
    return inspect(value);
  }
}
