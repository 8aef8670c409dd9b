// Finds arithmetic in a sentence: "25 + 17", "the sum of 1 and 2", "multiply it by 10".

import {
  type Expression,
  numberOf,
  type Operator,
  operation,
  operatorsIn,
  precedenceOf,
} from "./expression.ts";
import { type MathToken, mathTokens } from "./math-tokens.ts";

// More is no question of a person, and would be a deep recursion.
const maxDepth = 20;
const maxOperators = 50;

const verbs: { readonly [word: string]: Operator } = {
  add: "+",
  sum: "+",
  total: "+",
  subtract: "-",
  difference: "-",
  multiply: "*",
  product: "*",
  divide: "/",
  quotient: "/",
};
const selfVerbs: { readonly [word: string]: (value: Expression) => Expression } = {
  double: (value) => operation("*", value, numberOf(2)),
  halve: (value) => operation("/", value, numberOf(2)),
  square: (value) => operation("*", value, value),
};
const pronouns = ["it", "that", "this", "result", "answer"];
const fillers = ["of", "the", "numbers", "up", "together", "between", "both", "by", "with"];
const separators = ["and", "to", "by", "from", "with"];

interface Parsed {
  readonly expression: Expression;
  /** The token after it. */
  readonly next: number;
}

/** All arithmetic in `text`, from left to right. `isNext`: whether the text goes on from a result. */
export function findExpressions(text: string, isNext = false): Expression[] {
  const tokens = mathTokens(text);
  const found: Expression[] = [];
  for (let at = 0; at < tokens.length; ) {
    const parsed = phraseAt(tokens, at, isNext) ?? infixAt(tokens, at) ?? goingOnAt(tokens, at, isNext);
    if (parsed && operatorsIn(parsed.expression).length <= maxOperators) found.push(parsed.expression);
    at = parsed?.next ?? at + 1;
  }
  return found;
}

/** "times 10", with which only a sentence can begin that goes on from a result. */
function goingOnAt(tokens: readonly MathToken[], at: number, isNext: boolean): Parsed | undefined {
  const token = tokens[at];
  if (!isNext || at > 0 || token?.kind !== "operator") return undefined;
  const right = primaryAt(tokens, 1, 0);
  if (!right) return undefined;
  return { expression: operation(token.operator, { kind: "previous" }, right.expression), next: right.next };
}

/** An expression with at least one operator. */
function infixAt(tokens: readonly MathToken[], at: number): Parsed | undefined {
  const parsed = expressionAt(tokens, at, 0, 0);
  return parsed?.expression.kind === "operation" ? parsed : undefined;
}

function expressionAt(
  tokens: readonly MathToken[],
  at: number,
  floor: number,
  depth: number,
): Parsed | undefined {
  let parsed = primaryAt(tokens, at, depth);
  while (parsed) {
    const token = tokens[parsed.next];
    if (token?.kind !== "operator" || precedenceOf[token.operator] <= floor) return parsed;
    const own = precedenceOf[token.operator];
    // Powers bind to the right: 2 ^ 3 ^ 2 is 2 ^ 9.
    const bound = token.operator === "^" ? own - 1 : own;
    const right = depth < maxDepth ? expressionAt(tokens, parsed.next + 1, bound, depth + 1) : undefined;
    if (!right) return parsed;
    const { expression } = parsed;
    parsed = { expression: operation(token.operator, expression, right.expression), next: right.next };
  }
  return undefined;
}

function primaryAt(tokens: readonly MathToken[], at: number, depth: number): Parsed | undefined {
  const token = tokens[at];
  if (token?.kind === "number") return { expression: numberOf(token.value), next: at + 1 };
  if (token?.kind === "word" && pronouns.includes(token.word))
    return { expression: { kind: "previous" }, next: at + 1 };
  if (token?.kind === "word" && token.word === "the" && isPronoun(tokens[at + 1]))
    return { expression: { kind: "previous" }, next: at + 2 };
  if (!isMark(token, "(") || depth >= maxDepth) return undefined;
  const inner = expressionAt(tokens, at + 1, 0, depth + 1);
  return inner && isMark(tokens[inner.next], ")") ? { ...inner, next: inner.next + 1 } : undefined;
}

/** A verb or a noun with its numbers: "add 1 and 2", "subtract 3 from 10", "multiply by 10". */
function phraseAt(tokens: readonly MathToken[], at: number, isNext: boolean): Parsed | undefined {
  const verb = wordOf(tokens[at]);
  const operator = Object.hasOwn(verbs, verb) ? verbs[verb] : undefined;
  const self = Object.hasOwn(selfVerbs, verb) ? selfVerbs[verb] : undefined;
  if (!operator && !self) return undefined;
  let next = at + 1;
  let wentOn = isNext;
  while (fillers.includes(wordOf(tokens[next])) && !isPronoun(tokens[next + 1])) {
    wentOn ||= wordOf(tokens[next]) === "by";
    next += 1;
  }
  const operands: Expression[] = [];
  let isTurned = false;
  for (let isMore = true; isMore; ) {
    const operand = expressionAt(tokens, next, 0, 0);
    if (!operand) break;
    operands.push(operand.expression);
    next = operand.next;
    const skipped = separatorsAt(tokens, next);
    isMore =
      skipped > 0 && !self && operands.length <= maxOperators && !!expressionAt(tokens, next + skipped, 0, 0);
    if (!isMore) continue;
    isTurned ||= wordOf(tokens[next]) === "from" || wordOf(tokens[next]) === "to";
    next += skipped;
  }
  const [first, ...others] = operands;
  if (!first) return undefined;
  if (self) return { expression: self(first), next };
  if (!operator) return undefined;
  if (others.length === 0) {
    if (!wentOn || first.kind === "previous") return undefined;
    return { expression: operation(operator, { kind: "previous" }, first), next };
  }
  const isBackwards = isTurned && (operator === "-" || others[0]?.kind === "previous");
  const inOrder = isBackwards ? operands.toReversed() : operands;
  return { expression: inOrder.reduce((left, right) => operation(operator, left, right)), next };
}

/** How many tokens stand between two numbers of a list: "1, 2 and 3". */
function separatorsAt(tokens: readonly MathToken[], at: number): number {
  let count = isMark(tokens[at], ",") ? 1 : 0;
  if (separators.includes(wordOf(tokens[at + count]))) count += 1;
  return count;
}

function wordOf(token: MathToken | undefined): string {
  return token?.kind === "word" ? token.word : "";
}

function isPronoun(token: MathToken | undefined): boolean {
  return pronouns.includes(wordOf(token));
}

function isMark(token: MathToken | undefined, mark: string): boolean {
  return token?.kind === "mark" && token.mark === mark;
}
