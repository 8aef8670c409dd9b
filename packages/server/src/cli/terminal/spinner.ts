// Shows that something is awaited: a line that moves, and is gone without a trace.

const frames = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
const frameMs = 100;

export interface SpinnerOptions {
  write: (text: string) => void;
  /** What is awaited; shown behind the moving sign. */
  text: string;
  paint?: (text: string) => string;
  /** How long nothing is shown, so that what is quick does not flicker. Default: 150. */
  delayMs?: number;
}

/** Starts at the beginning of a line. Returns how to end it; ending twice does nothing. */
export function startSpinner({ write, text, paint = (it) => it, delayMs = 150 }: SpinnerOptions): () => void {
  let frame = 0;
  let isShown = false;
  const draw = () => {
    isShown = true;
    write(`\r${paint(`${frames[frame++ % frames.length]} ${text}`)}`);
    timer = setTimeout(draw, frameMs).unref();
  };
  let timer = setTimeout(draw, delayMs).unref();
  return () => {
    clearTimeout(timer);
    if (isShown) write("\r\u001b[K");
    isShown = false;
  };
}
