// What a prompt to the model server must lead to: a contender that skips work must not look fast.
import { mixedPieces } from "../model/mixed-text.ts";

/** The text of the answers to a prompt, and how many calls they have. */
export function expectedOf(prompt: string): { readonly text: string; readonly calls: number } {
  const [kind = "", size] = prompt.split(" ");
  const count = Number(size);
  if (kind === "stream" || kind === "burst") return { text: " word".repeat(count), calls: 0 };
  if (kind === "mixed") return { text: mixedPieces(count).join(""), calls: 0 };
  return { text: " word".repeat(3), calls: kind === "think" ? count * 2 : count };
}
