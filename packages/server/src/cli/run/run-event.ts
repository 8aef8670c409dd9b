// Everything that can happen while a file is run, whatever it holds.

import type { ChatEvent, ChatUsage, EndReason } from "../chat/chat-events.ts";

/** A turn of an agent. */
interface OfTurn {
  /** Its id, by which its events belong together. */
  readonly turn: string;
  readonly tool: string;
}

export type RunEvent =
  | Exclude<ChatEvent, { type: "end" }>
  | ({ readonly type: "turn.started"; readonly input: unknown } & OfTurn)
  | ({ readonly type: "turn.value"; readonly value: unknown } & OfTurn)
  | ({ readonly type: "turn.finished" } & OfTurn)
  /** A function has given a value that is no text. */
  | { readonly type: "value"; readonly value: unknown };

/** How a run has ended that has not failed. */
export interface Ending {
  readonly reason: EndReason;
  readonly usage: ChatUsage | undefined;
}

/** Takes what happens, as it happens. */
export type Emit = (event: RunEvent) => void;

/** What a file holds. */
export type RunKind = "agent" | "prompt" | "function";

/** Where a run is shown. Exactly one of `finished` and `failed` is called, at its end. */
export interface RunOutput {
  started(kind: RunKind, file: string): void;
  event: Emit;
  finished(ending: Ending): void;
  failed(error: unknown): void;
}
