// Renders what grows at a pace that leaves the browser at rest: once in a frame at most, and seldom where it takes long.

/** The share of the time that rendering may take is one of so many parts. */
const restFactor = 12;
/** Ten times a second reads like a stream, and leaves a core nine tenths of its time. */
const minPauseMs = 100;

/**
 * Calls `render` soon after the returned function was called, however often that is, and in the next frames until it
 * returns true: all is shown. `stop` ends it.
 */
export function paced(render: () => boolean): { readonly request: () => void; readonly stop: () => void } {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let frame: number | undefined;
  let restUntil = 0;
  const run = () => {
    frame = undefined;
    const startedAt = performance.now();
    const isDone = render();
    const endedAt = performance.now();
    restUntil = endedAt + Math.max(minPauseMs, (endedAt - startedAt) * restFactor);
    if (!isDone) nextFrame();
  };
  const nextFrame = () => {
    timer = undefined;
    frame = requestAnimationFrame(run);
  };
  return {
    request() {
      if (timer !== undefined || frame !== undefined) return;
      const pauseMs = restUntil - performance.now();
      if (pauseMs > 0) timer = setTimeout(nextFrame, pauseMs);
      else nextFrame();
    },
    stop() {
      clearTimeout(timer);
      if (frame !== undefined) cancelAnimationFrame(frame);
    },
  };
}
