// Bounds what a page is shown of a tool's output.

const maxBytes = 1_000_000;

/** The beginning of a long text, whole characters only, with a note of what is missing. */
export function cutOutput(text: string): { text: string; isCut: boolean } {
  const bytes = Buffer.byteLength(text);
  if (bytes <= maxBytes) return { text, isCut: false };
  const beginning = Buffer.from(text.slice(0, maxBytes)).subarray(0, maxBytes);
  const kept = new TextDecoder().decode(beginning, { stream: true });
  return { text: `${kept}\n[Cut: the first ${maxBytes} of ${bytes} bytes.]`, isCut: true };
}
