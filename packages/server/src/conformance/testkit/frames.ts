// The frames of an event stream, read as strictly as the contract writes them.

export interface Frame {
  /** What stands after `event:`. */
  readonly event: string | undefined;
  /** The event, or the text `[DONE]`. */
  readonly data: unknown;
}

/** Reads a stream. A frame that is not `event: TYPE`, `data: JSON` is an error; comments are passed over. */
export function framesOf(text: string, { isCut = false }: { isCut?: boolean } = {}): Frame[] {
  const blocks = text.split("\n\n");
  const rest = blocks.pop();
  if (rest !== "" && !isCut) throw new Error(`The stream ends within a frame: ${JSON.stringify(rest)}`);
  return blocks.filter((block) => !block.startsWith(":")).map(frameOf);
}

function frameOf(block: string): Frame {
  if (block === "data: [DONE]") return { event: undefined, data: "[DONE]" };
  const match = /^event: ([^\n]*)\ndata: ([^\n]*)$/.exec(block);
  if (!match) throw new Error(`Expected a frame of 'event:' and 'data:', but got ${JSON.stringify(block)}`);
  return { event: match[1], data: JSON.parse(match[2] ?? "") as unknown };
}

/** The bytes of frames, as the server writes them. */
export function textOf(frames: readonly Frame[]): string {
  return frames
    .map(({ event, data }) =>
      event === undefined
        ? `data: ${String(data)}\n\n`
        : `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`,
    )
    .join("");
}
