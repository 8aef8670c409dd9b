// A spinner on one line, which it erases at the end.

const frames = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
const frameMs = 100;

export interface SpinnerOptions {
  write: (text: string) => void;
  /** The text after the spinner. */
  text: string;
  paint?: (text: string) => string;
  /** Delay before it shows, so that short waits do not flicker. Default: 150. */
  delayMs?: number;
}

/** Starts at the beginning of a line. Returns a function that stops it; calling it again does nothing. */
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
