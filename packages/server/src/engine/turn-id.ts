// The identity of a turn: the same each time its call runs, also after a crash.

/** `answer` is the number of the answer that made the call; models use the ids of calls again. */
export function turnId(responseId: string, answer: number, callId: string): string {
  return `${responseId}:${answer}:${callId}`;
}
