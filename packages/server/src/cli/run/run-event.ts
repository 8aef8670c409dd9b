// The events of a run, whatever the file holds.

import type { ChatEvent, ChatUsage, EndReason } from "../chat/chat-events.ts";

/** A turn of an agent. */
interface OfTurn {
  /** Its id, which all its events carry. */
  readonly turn: string;
  readonly tool: string;
}

export type RunEvent =
  | Exclude<ChatEvent, { type: "end" }>
  | ({ readonly type: "turn.started"; readonly input: unknown } & OfTurn)
  | ({ readonly type: "turn.value"; readonly value: unknown } & OfTurn)
  | ({ readonly type: "turn.finished" } & OfTurn)
  /** A value of a function that is not text. */
  | { readonly type: "value"; readonly value: unknown };

/** How a run ended that did not fail. */
export interface Ending {
  readonly reason: EndReason;
  readonly usage: ChatUsage | undefined;
}

export type Emit = (event: RunEvent) => void;

export type RunKind = "agent" | "prompt" | "function";

/** Where a run is shown. Exactly one of `finished` and `failed` is called, at its end. */
export interface RunOutput {
  started(kind: RunKind, file: string): void;
  event: Emit;
  finished(ending: Ending): void;
  failed(error: unknown): void;
}
