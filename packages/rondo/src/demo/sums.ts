// Finds sums in a sentence and evaluates them, by precedence climbing: "(1 + 2) * 3", "add 1 and 2", "multiply by 10".

const operators = {
  "+": { precedence: 1, words: /\bplus\b/gi, compute: (a: number, b: number) => a + b },
  "-": { precedence: 1, words: /\bminus\b/gi, compute: (a: number, b: number) => a - b },
  "*": { precedence: 2, words: /\btimes\b|×/gi, compute: (a: number, b: number) => a * b },
  "/": { precedence: 2, words: /\bdivided by\b|÷/gi, compute: (a: number, b: number) => a / b },
  "%": { precedence: 2, words: /\bmod\b/gi, compute: (a: number, b: number) => a % b },
  "^": { precedence: 3, words: /\*\*/g, compute: (a: number, b: number) => a ** b },
};
export type Operator = keyof typeof operators;

/** Applies an operator; `undefined` while the result is pending. */
type Apply = (operator: Operator, a: number, b: number) => number | undefined;

const maxDepth = 20;
const maxOperators = 50;
const signs: { readonly [verb: string]: string } = { add: "+", subtract: "-", multiply: "*", divide: "/" };
const operand = String.raw`(-?\d+(?:\.\d+)?|\([^()]*\))`;
const phrases = new RegExp(
  String.raw`\b(add|subtract|multiply|divide)( by)? ${operand}(?:,? (and|by|to|from) ${operand})?`,
  "gi",
);
const runs = /(?<![\p{L}\p{N}_.:])[-+*/%^().\d ]+(?![\p{L}\p{N}_:])/gu;
const dateOrVersion = /\d{4}-\d+-|\d\/\d+\/\d|\d\.\d+\.\d/;

/** The sums in a text. `previous` is what "it" stands for; `isNext`: whether the text continues from it. */
export function findSums(text: string, previous: number | undefined, isNext = false): string[] {
  let infix = text.replace(/\b(?:it|that|the result)\b/gi, (it) => String(previous ?? it));
  infix = infix.replace(phrases, (all, verb: string, by, a: string, link?: string, b = "") => {
    const sign = signs[verb.toLowerCase()];
    if (link !== undefined) return (/from|to/i.test(link) ? [b, a] : [a, b]).join(` ${sign} `);
    return previous !== undefined && (isNext || by) ? `${previous} ${sign} ${a}` : all;
  });
  for (const [sign, { words }] of Object.entries(operators)) infix = infix.replace(words, sign);
  return (infix.match(runs) ?? []).filter((run) => !dateOrVersion.test(run) && isSum(run)).map(written);
}

/** A result as on paper: 0.1 + 0.2 is 0.3. */
export function calculate(operator: Operator, a: number, b: number): number {
  const value = operators[operator].compute(a, b);
  return Number.isInteger(value) ? value : Number(value.toPrecision(12));
}

/** The value of a sum: not finite if it has none, `undefined` while one is pending. */
export function evaluate(sum: string, apply: Apply): number | undefined {
  const tokens = tokensOf(sum);
  let at = 0;
  const expect = (isExpected: boolean) => {
    if (!isExpected) throw new SyntaxError(`'${sum}' is not a sum.`);
  };
  const operandAt = (depth: number): number | undefined => {
    const token = tokens[at++] ?? "";
    if (/\d/.test(token)) return Number(token);
    expect(token === "(");
    const value = sumAbove(0, depth + 1);
    expect(tokens[at++] === ")");
    return value;
  };
  const sumAbove = (floor: number, depth: number): number | undefined => {
    expect(depth <= maxDepth);
    let left = operandAt(depth);
    while (true) {
      const operator = tokens[at] as Operator;
      const precedence = operators[operator]?.precedence ?? 0;
      if (precedence <= floor) return left;
      at += 1;
      // Both sides are evaluated before either is waited for, so that their calls are made at once.
      const right = sumAbove(operator === "^" ? precedence - 1 : precedence, depth + 1);
      if (left === undefined || right === undefined) left = undefined;
      else left = Number.isFinite(left) && Number.isFinite(right) ? apply(operator, left, right) : Number.NaN;
    }
  };
  const value = sumAbove(0, 0);
  expect(at === tokens.length);
  return value;
}

function isSum(text: string): boolean {
  let count = 0;
  try {
    evaluate(text, () => ++count);
  } catch {
    return false;
  }
  return count > 0 && count <= maxOperators;
}

function tokensOf(text: string): string[] {
  return text.match(/(?:(?<![\d)] *)-)?\d+(?:\.\d+)?|[-+*/%^()]/g) ?? [];
}

function written(sum: string): string {
  return tokensOf(sum).join(" ").replaceAll("( ", "(").replaceAll(" )", ")");
}
