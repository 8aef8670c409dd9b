// Arithmetic as data: what is asked, how it is written, and what it comes to.

export type Operator = "+" | "-" | "*" | "/" | "%" | "^";

/** `previous` stands for the result before it: "then multiply **it** by 10". */
export type Expression =
  | { readonly kind: "number"; readonly value: number }
  | { readonly kind: "previous" }
  | Operation;

export interface Operation {
  readonly kind: "operation";
  readonly operator: Operator;
  readonly left: Expression;
  readonly right: Expression;
}

export const precedenceOf: Record<Operator, number> = { "+": 1, "-": 1, "*": 2, "/": 2, "%": 2, "^": 3 };

const compute: Record<Operator, (a: number, b: number) => number> = {
  "+": (a, b) => a + b,
  "-": (a, b) => a - b,
  "*": (a, b) => a * b,
  "/": (a, b) => a / b,
  "%": (a, b) => a % b,
  "^": (a, b) => a ** b,
};

export function numberOf(value: number): Expression {
  return { kind: "number", value };
}

export function operation(operator: Operator, left: Expression, right: Expression): Operation {
  return { kind: "operation", operator, left, right };
}

/** The value of one operation. Not finite where there is none: `1 / 0`. */
export function calculate(operator: Operator, a: number, b: number): number {
  const value = compute[operator](a, b);
  // 0.1 + 0.2 shall be 0.3, as on paper.
  return Number.isInteger(value) ? value : Number(value.toPrecision(12));
}

/** The operators that it has, in the order in which they are written. */
export function operatorsIn(expression: Expression): Operator[] {
  if (expression.kind !== "operation") return [];
  return [...operatorsIn(expression.left), expression.operator, ...operatorsIn(expression.right)];
}

export function refersBack(expression: Expression): boolean {
  if (expression.kind !== "operation") return expression.kind === "previous";
  return refersBack(expression.left) || refersBack(expression.right);
}

/** The expression with the result before it in its place. */
export function withPrevious(expression: Expression, previous: number): Expression {
  if (expression.kind === "previous") return numberOf(previous);
  if (expression.kind === "number") return expression;
  const { operator, left, right } = expression;
  return operation(operator, withPrevious(left, previous), withPrevious(right, previous));
}

/** As one writes it, with no more parentheses than needed. */
export function written(expression: Expression): string {
  if (expression.kind === "number") return String(expression.value);
  if (expression.kind === "previous") return "it";
  const { operator, left, right } = expression;
  const own = precedenceOf[operator];
  return `${enclosed(left, own - (operator === "^" ? 0 : 1))} ${operator} ${enclosed(right, own)}`;
}

function enclosed(part: Expression, bound: number): string {
  const text = written(part);
  const isLoose = part.kind === "operation" && precedenceOf[part.operator] <= bound;
  const isNegative = part.kind === "number" && part.value < 0;
  return isLoose || isNegative ? `(${text})` : text;
}
