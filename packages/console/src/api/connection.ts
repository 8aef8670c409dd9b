// Whether the server answers. After a failed request it is asked again until it does, and all who wait are told.

import { signal } from "@preact/signals";

/** Whether the last request reached the server. */
export const isConnected = signal(true);

/** Counts how often the connection came back: whoever reads it in an effect loads again then. */
export const reconnects = signal(0);

/** It is asked again soon, and then less often. */
const firstRetryMs = 200;
const maxRetryMs = 1_500;

export function connectionLost(): void {
  if (!isConnected.peek()) return;
  isConnected.value = false;
  retryIn(firstRetryMs);
}

function retryIn(ms: number): void {
  setTimeout(() => void retry(Math.min(2 * ms, maxRetryMs)), ms);
}

async function retry(nextMs: number): Promise<void> {
  try {
    const reply = await fetch("healthz", { cache: "no-store" });
    if (!reply.ok) throw new Error(`The server answers with ${reply.status}.`);
    isConnected.value = true;
    reconnects.value += 1;
  } catch {
    retryIn(nextMs);
  }
}
