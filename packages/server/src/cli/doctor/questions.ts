// What models are asked, and how to know that an answer is right: the same straight and through a Rondo server.

import type { Finding } from "./report.ts";

export const answerPrompt = "Reply with the single word pong.";
export const streamPrompt = "Count from 1 to 10 in digits, with commas between them.";

const a = 48_213;
const b = 90_761;
export const toolPrompt = `What is ${a} + ${b}? Call the tool add to find out, then tell me the sum.`;
export const toolName = "add";
export const toolDescription = "Add two numbers exactly. Always use it for sums.";

/** Enough for a model that thinks first, and an end for one that never stops. */
export const maxTokens = 1500;

export interface Spoken {
  readonly text: string;
  readonly thinking: string;
}

/** Why an answer without text is none; undefined if it has text. */
export function withoutText({ text, thinking }: Spoken): Finding | undefined {
  if (text !== "") return undefined;
  return thinking === ""
    ? {
        status: "failed",
        code: "empty_answer",
        message: "the answer is empty",
        advice: "Look into the server's log; the model's chat template may be wrong.",
      }
    : {
        status: "warning",
        code: "only_thinking",
        message: `it thought for ${thinking.length} characters and then had no room left for an answer`,
        advice: "Give it room with a larger maxTokens, or let it think less.",
      };
}

/** Whether the sum is in the text, however its thousands are set apart. */
export function hasSum(text: string): boolean {
  return text.replace(/(?<=\d)[\s,.'’_\u{a0}\u{202f}](?=\d{3})/gu, "").includes(String(a + b));
}

/** Whether the text looks as if the model had meant to call the tool. */
export function looksLikeCall(text: string): boolean {
  return (
    /<\|?tool|\[TOOL|<function|functions?\.add|<invoke|```tool|"(?:name|function|tool|action)"\s*:\s*"add"/i.test(
      text,
    ) || new RegExp(`\\badd\\s*\\(?\\s*[{(]?[^.]{0,20}${a}`).test(text)
  );
}
