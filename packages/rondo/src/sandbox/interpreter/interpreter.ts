// The contract of an interpreter: a process in a container that keeps its variables from one call to the next.

import type { LimitName } from "../sandbox.ts";

export type Language = "python" | "javascript";

/** A process in a container that runs one piece of code after the other, and keeps its variables. */
export interface Interpreter {
  readonly language: Language;
  /** False after it was lost or closed. Open another one: it begins without variables. */
  readonly isAlive: boolean;
  /**
   * Runs code, after the calls before it. Iterate over the call for its output as it comes, or await its `outcome`,
   * which reads and drops the rest.
   */
  run(code: string, options?: RunCodeOptions): CodeCall;
  /** Ends the process. The container stays open. */
  close(): Promise<void>;
}

export interface RunCodeOptions {
  /** Default: `limits.timeoutMs` of the container. */
  readonly timeoutMs?: number;
  /** Default: `limits.outputBytes` of the container. Output beyond it is dropped, and ends the call. */
  readonly maxOutputBytes?: number;
  /** Interrupts the code; if it goes on, ends the interpreter. */
  readonly signal?: AbortSignal;
}

/** A piece of code that runs. Leaving the iteration interrupts it. Iterate once. */
export interface CodeCall extends AsyncIterable<CodeOutput> {
  /** How it ended. Never rejects. */
  readonly outcome: Promise<CodeOutcome>;
}

/** What code prints and shows. Text is data: control characters are still in it; `plainText()` removes them. */
export type CodeOutput =
  | { readonly type: "stdout" | "stderr"; readonly text: string }
  /** The value of the last expression, as the language prints it. */
  | { readonly type: "result"; readonly text: string }
  /** A figure. */
  | { readonly type: "image"; readonly mediaType: "image/png"; readonly bytes: Uint8Array };

/** How a piece of code ended. `isLost`: the interpreter ended with it, and its variables are gone. */
export type CodeOutcome =
  | { readonly type: "done"; readonly isLost: false }
  /** It threw. The traceback has the frames of the code only. */
  | {
      readonly type: "error";
      readonly isLost: false;
      readonly name: string;
      readonly message: string;
      readonly traceback: string;
    }
  | { readonly type: LimitName; readonly isLost: boolean; readonly message: string }
  | { readonly type: "cancelled"; readonly isLost: boolean }
  /** The process ended, or the code broke its protocol. */
  | { readonly type: "lost"; readonly isLost: true; readonly message: string };
