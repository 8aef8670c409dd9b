// The time now, for durations that tick. It only runs while someone looks at it.

import { type ReadonlySignal, signal } from "@preact/signals";

const tickMs = 250;

let timer: ReturnType<typeof setInterval> | undefined;

const time = signal(Date.now(), {
  watched() {
    time.value = Date.now();
    timer = setInterval(() => {
      if (document.visibilityState === "visible") time.value = Date.now();
    }, tickMs);
  },
  unwatched() {
    clearInterval(timer);
  },
});

export const now: ReadonlySignal<number> = time;
