// The result of a piece of code, as a model reads it.

import type { CodeOutcome, CodeOutput } from "../interpreter/interpreter.ts";
import { plainText } from "../plain-text.ts";

/** Output, or a file that was made from it. */
export type ResultPart = CodeOutput | { readonly type: "file"; readonly path: string };

export function figureName(number: number): string {
  return `figure-${number}.png`;
}

/** Text without control characters: output in its order, then how it ended, unless that was well. */
export function codeResultText(parts: readonly ResultPart[], outcome: CodeOutcome): string {
  let text = "";
  const onNewLine = (line: string) => {
    text += text === "" || text.endsWith("\n") ? line : `\n${line}`;
  };
  for (const part of parts) {
    if (part.type === "stdout" || part.type === "stderr") text += plainText(part.text);
    else if (part.type === "result") onNewLine(plainText(part.text));
    else if (part.type === "file") onNewLine(`[a figure was saved as /mnt/data/${part.path}]`);
  }
  if (outcome.type !== "done") onNewLine(outcomeText(outcome));
  return text === "" ? "(no output)" : text;
}

/** How a piece of code ended, as a line for the model. */
export function outcomeText(outcome: CodeOutcome): string {
  if (outcome.type === "done") return "";
  if (outcome.type === "error") return plainText(outcome.traceback).trimEnd();
  const reason = "message" in outcome ? outcome.message : "It was cancelled.";
  const loss = outcome.isLost
    ? " The interpreter was ended: its variables are gone, the files are kept."
    : "";
  return `[${outcome.type}] ${reason}${loss}`;
}
