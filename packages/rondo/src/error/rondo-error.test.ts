import { expect, test } from "vitest";
import { InvalidArgumentError, InvalidTypeError } from "./argument-errors.ts";
import {
  CompletionCheckReturnError,
  LockTimeoutError,
  SafeExecutionError,
  TimeoutError,
  TurnTimeoutError,
  WrongRunMethodError,
} from "./execution-errors.ts";
import { InvalidInputError } from "./input-error.ts";
import { InvalidJsonError, UnserializableError } from "./json-errors.ts";
import {
  MissingContextItemError,
  UnregisteredAgentError,
  UnregisteredError,
  UnregisteredHookError,
  UnregisteredToolError,
} from "./lookup-errors.ts";
import { RondoError } from "./rondo-error.ts";

const problem = { field: "limit", expected: "a whole number from 1", received: 0 };

const errors: [name: string, code: string, error: Error][] = [
  ["InvalidArgumentError", "invalid_argument", new InvalidArgumentError(problem)],
  ["InvalidTypeError", "invalid_type", new InvalidTypeError(problem)],
  ["InvalidInputError", "invalid_input", new InvalidInputError("t", [])],
  ["SafeExecutionError", "unsafe_execution", new SafeExecutionError("no")],
  ["WrongRunMethodError", "wrong_run_method", new WrongRunMethodError("t", { streaming: true })],
  ["TurnTimeoutError", "turn_timeout", new TurnTimeoutError("t", 5)],
  ["LockTimeoutError", "lock_timeout", new LockTimeoutError("the tool 't'", 5)],
  ["CompletionCheckReturnError", "completion_check_return", new CompletionCheckReturnError("t", 1)],
  ["UnserializableError", "unserializable", new UnserializableError("input.a", 1)],
  ["InvalidJsonError", "invalid_json", new InvalidJsonError("turn.a", "a string", 1)],
  ["UnregisteredToolError", "unregistered_tool", new UnregisteredToolError("t", [])],
  ["UnregisteredAgentError", "unregistered_agent", new UnregisteredAgentError("a", [])],
  ["UnregisteredHookError", "unregistered_hook", new UnregisteredHookError("h", [])],
  ["MissingContextItemError", "missing_context_item", new MissingContextItemError("i", [])],
];

test.each(errors)("%s is a RondoError with its own name and the code %s", (name, code, error) => {
  expect(error).toBeInstanceOf(RondoError);
  expect(error).toBeInstanceOf(Error);
  expect(error).toMatchObject({ name, code });
  expect(error.stack).toMatch(new RegExp(`^${name}: `));
});

test("no two errors share a code", () => {
  const codes = errors.map(([, code]) => code);
  expect(new Set(codes).size).toBe(codes.length);
});

test("the errors of a wrong type are TypeErrors, and the others are not", () => {
  const typeErrors = errors.filter(([, , error]) => error instanceof TypeError).map(([name]) => name);
  expect(typeErrors).toEqual(["InvalidTypeError", "InvalidInputError", "CompletionCheckReturnError"]);
});

test("both timeouts are TimeoutErrors, and nothing else is", () => {
  const timeouts = errors.filter(([, , error]) => error instanceof TimeoutError).map(([name]) => name);
  expect(timeouts).toEqual(["TurnTimeoutError", "LockTimeoutError"]);
});

test("the errors of unknown names are UnregisteredErrors, and nothing else is", () => {
  const unregistered = errors
    .filter(([, , error]) => error instanceof UnregisteredError)
    .map(([name]) => name);
  expect(unregistered).toEqual(["UnregisteredToolError", "UnregisteredAgentError", "UnregisteredHookError"]);
});

test("an error is only an instance of its own class, although all share a brand", () => {
  expect(new SafeExecutionError("no")).not.toBeInstanceOf(WrongRunMethodError);
  expect(new InvalidTypeError(problem)).not.toBeInstanceOf(InvalidInputError);
});

test("an error of another copy of the package is a RondoError too", () => {
  class ForeignError extends TypeError {
    static {
      Object.defineProperty(ForeignError.prototype, Symbol.for("rondo.error"), { value: true });
    }
  }
  expect(new ForeignError("from elsewhere")).toBeInstanceOf(RondoError);
  expect(new ForeignError("from elsewhere")).not.toBeInstanceOf(SafeExecutionError);
});

test.each([new Error("plain"), new TypeError("plain"), null, undefined, "text", 1, {}, () => {}])(
  "%s is no RondoError",
  (value) => {
    expect(value instanceof RondoError).toBe(false);
  },
);

test("an error's name and brand do not show among its own keys", () => {
  expect(Object.keys(new SafeExecutionError("no"))).toEqual(["code"]);
});
