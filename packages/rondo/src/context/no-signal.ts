// The signal of hooks around work that cannot be aborted.

export const neverAborted: AbortSignal = new AbortController().signal;
