// Renders what grows at a pace that leaves the browser at rest: once in a frame at most, and seldom where it takes long.

/** The share of the time that rendering may take is one of so many parts. */
const restFactor = 12;
/** Ten times a second reads like a stream, and leaves a core nine tenths of its time. */
const pauseMs = 100;
/** What comes faster than anybody reads, in characters a second, is shown in larger steps. */
const fastRate = 300;
const fastPauseMs = 180;

export interface Pace {
  /** There is something new; `length` is how long all of it is. */
  readonly request: (length: number) => void;
  readonly stop: () => void;
}

/**
 * Calls `render` soon after `request`, however often that is called, and in the next frames until it returns true: all
 * is shown. `stop` ends it.
 */
export function paced(render: () => boolean): Pace {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let frame: number | undefined;
  let restUntil = 0;
  let length = 0;
  let before = { at: 0, length: 0 };
  const run = () => {
    frame = undefined;
    const startedAt = performance.now();
    const isFast = (length - before.length) * 1_000 > (startedAt - before.at) * fastRate;
    before = { at: startedAt, length };
    const isDone = render();
    const endedAt = performance.now();
    restUntil = endedAt + Math.max(isFast ? fastPauseMs : pauseMs, (endedAt - startedAt) * restFactor);
    if (!isDone) nextFrame();
  };
  const nextFrame = () => {
    timer = undefined;
    frame = requestAnimationFrame(run);
  };
  return {
    request(now) {
      length = now;
      if (timer !== undefined || frame !== undefined) return;
      const wait = restUntil - performance.now();
      if (wait > 0) timer = setTimeout(nextFrame, wait);
      else nextFrame();
    },
    stop() {
      clearTimeout(timer);
      if (frame !== undefined) cancelAnimationFrame(frame);
    },
  };
}
