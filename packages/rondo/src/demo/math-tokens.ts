// Cuts text into what arithmetic is made of: numbers, operators, brackets and the words between them.

import type { Operator } from "./expression.ts";

export type MathToken =
  | { readonly kind: "number"; readonly value: number }
  | { readonly kind: "operator"; readonly operator: Operator }
  | { readonly kind: "word"; readonly word: string }
  | { readonly kind: "mark"; readonly mark: string };

const operators = new Map<string, Operator>(
  Object.entries({
    "+": "+",
    plus: "+",
    "-": "-",
    "−": "-",
    "–": "-",
    minus: "-",
    "*": "*",
    "×": "*",
    "·": "*",
    x: "*",
    times: "*",
    "multiplied by": "*",
    "/": "/",
    "÷": "/",
    "divided by": "/",
    "%": "%",
    mod: "%",
    modulo: "%",
    "^": "^",
    "**": "^",
    "to the power of": "^",
  } satisfies Record<string, Operator>),
);

const smallNumbers =
  "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty".split(
    " ",
  );

// Dates, times, versions and addresses have numbers that are none.
const notNumbers =
  /(?:\d{4}([-/.])\d\d?\1\d\d?|\d\d?([-/.])\d\d?\2\d{4}|\d+(?:\.\d+){2,}|\d+:\d+(?::\d+)?)(?!\d)/y;
const numbers = /(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+)(?:\.\d+)?(?:e[+-]?\d+)?(?![\p{L}\p{N}_]|\.\d)/iuy;
const multipliedNumbers = /\d+(?:\.\d+)?(?=x\d)/iuy;
const operatorWords =
  /(?:multiplied by|divided by|to the power of|plus|minus|times|modulo|mod)(?![\p{L}\p{N}_])/iuy;
const operatorMarks = /\*\*|[-+*×·/÷^%−–]|x(?= ?\d)/iuy;
const words = /[\p{L}\p{N}_][\p{L}\p{N}_'’]*/uy;

export function mathTokens(text: string): MathToken[] {
  const tokens: MathToken[] = [];
  let at = 0;
  const take = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = at;
    const found = pattern.exec(text)?.[0];
    at += found?.length ?? 0;
    return found;
  };
  while (at < text.length) {
    const isAfterValue = endsValue(tokens.at(-1));
    const date = take(notNumbers);
    if (date !== undefined) {
      tokens.push({ kind: "word", word: date });
      continue;
    }
    const sign = !isAfterValue && /[-−]\d/y.test(text.slice(at, at + 2)) ? -1 : 1;
    if (sign < 0) at += 1;
    const number = take(multipliedNumbers) ?? take(numbers);
    if (number !== undefined) {
      tokens.push(numberToken(number, sign));
      continue;
    }
    const operator =
      take(operatorWords) ?? (isAfterValue || tokens.length === 0 ? take(operatorMarks) : undefined);
    if (operator !== undefined) {
      tokens.push({ kind: "operator", operator: operators.get(operator.toLowerCase()) as Operator });
      continue;
    }
    const word = take(words)?.toLowerCase();
    if (word !== undefined) {
      const value = smallNumbers.indexOf(word);
      tokens.push(value >= 0 ? { kind: "number", value } : { kind: "word", word });
      continue;
    }
    const mark = text[at] as string;
    if (mark.trim() !== "") tokens.push({ kind: "mark", mark });
    at += 1;
  }
  return tokens;
}

function numberToken(text: string, sign: number): MathToken {
  const value = sign * Number(text.replaceAll(",", ""));
  return Number.isFinite(value) ? { kind: "number", value } : { kind: "word", word: text };
}

function endsValue(token: MathToken | undefined): boolean {
  if (token === undefined) return false;
  if (token.kind === "word") return ["it", "that", "this", "result", "answer"].includes(token.word);
  return token.kind === "number" || (token.kind === "mark" && token.mark === ")");
}
