// The time now by the server's clock, for durations that tick. It only runs while someone looks at it.

import { type ReadonlySignal, signal } from "@preact/signals";
import { serverNow } from "../api/server-clock.ts";

const tickMs = 250;

let timer: ReturnType<typeof setInterval> | undefined;

const time = signal(serverNow(), {
  watched() {
    time.value = serverNow();
    timer = setInterval(() => {
      if (document.visibilityState === "visible") time.value = serverNow();
    }, tickMs);
  },
  unwatched() {
    clearInterval(timer);
  },
});

export const now: ReadonlySignal<number> = time;
