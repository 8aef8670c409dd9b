// What the two threads of the watchdog share.

/** Incremented while the event loop turns. */
export const beatPlace = 0;
/** 1 while a debugger can be attached. */
export const debuggedPlace = 1;
/** How many bytes of `names` are in use. */
export const namesPlace = 2;

/** The global symbol of `currentRun()`. */
export const witnessName = "rondo.watchdog";

export interface WatchdogData {
  readonly shared: Int32Array;
  /** The ids of the responses that ran at the last heartbeat, with spaces between them. */
  readonly names: Uint8Array;
  readonly tickMs: number;
  readonly blockedMs: number;
  readonly notePath: string | undefined;
}
