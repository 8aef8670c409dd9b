// A message says what was expected, what came and what to do.
import { expect, test } from "vitest";
import { InvalidArgumentError, InvalidTypeError } from "./argument-errors.ts";
import {
  CompletionCheckReturnError,
  LockTimeoutError,
  TurnTimeoutError,
  WrongRunMethodError,
} from "./execution-errors.ts";
import { InvalidInputError } from "./input-error.ts";
import { InvalidJsonError, UnserializableError } from "./json-errors.ts";
import {
  MissingContextItemError,
  UnregisteredAgentError,
  UnregisteredHookError,
  UnregisteredToolError,
} from "./lookup-errors.ts";

test.each([InvalidArgumentError, InvalidTypeError])(
  "%o names the field, the expected and the received",
  (E) => {
    const cause = new Error("cause");
    const error = new E(
      { field: "tools[1]", expected: "a tool", received: 7, hint: "Define it." },
      { cause },
    );
    expect(error.message).toBe("tools[1]: expected a tool, got 7. Define it.");
    expect(error).toMatchObject({ field: "tools[1]", expected: "a tool", received: 7, cause });
  },
);

test("an argument error without a hint ends after the received value", () => {
  expect(new InvalidTypeError({ field: "name", expected: "a string" }).message).toBe(
    "name: expected a string, got nothing.",
  );
});

test("InvalidInputError lists every issue with its path", () => {
  const issues = [
    { path: "city", message: "expected string, got nothing" },
    { path: "", message: "too many keys" },
  ];
  const error = new InvalidInputError("weather", issues);
  expect(error.message).toBe(
    "Invalid input for the tool 'weather': city: expected string, got nothing; too many keys.",
  );
  expect(error).toMatchObject({ toolName: "weather", issues });
});

test("WrongRunMethodError says which method is the right one", () => {
  expect(new WrongRunMethodError("count", { streaming: true })).toMatchObject({
    toolName: "count",
    message: expect.stringContaining("run its turn with yielding(), not returning()"),
  });
  expect(new WrongRunMethodError("add", { streaming: false })).toMatchObject({
    toolName: "add",
    message: expect.stringContaining("run its turn with returning(), not yielding()"),
  });
});

test("TurnTimeoutError names the tool, the limit and the remedy", () => {
  const error = new TurnTimeoutError("slow", 250);
  expect(error).toMatchObject({ toolName: "slow", timeoutMs: 250 });
  expect(error.message).toMatch(/'slow' ran for more than its 250 ms.*larger timeoutMs/s);
});

test("LockTimeoutError names the owner of the lock and the limit", () => {
  const error = new LockTimeoutError("the tool 'write'", 250);
  expect(error.timeoutMs).toBe(250);
  expect(error.message).toContain("The lock of the tool 'write' was not free within 250 ms.");
});

test("CompletionCheckReturnError names the tool and what it returned", () => {
  const error = new CompletionCheckReturnError("done", "yes");
  expect(error).toMatchObject({ toolName: "done", received: "yes" });
  expect(error.message).toBe(`The completion check 'done' must return true or false, got "yes".`);
});

test("UnserializableError says where and why", () => {
  const error = new UnserializableError("input.callback", function save() {});
  expect(error.path).toBe("input.callback");
  expect(error.message).toBe(
    "Cannot save input.callback: the function 'save', and it cannot be restored from JSON.",
  );
  expect(new UnserializableError("input", {}, "it contains itself").message).toContain("it contains itself");
});

test("InvalidJsonError names the place, what was expected and what was received", () => {
  const error = new InvalidJsonError("agent.queue[2].toolName", "a string", 5);
  expect(error.path).toBe("agent.queue[2].toolName");
  expect(error.message).toBe("Cannot read agent.queue[2].toolName: expected a string, got 5.");
});

test("an unknown tool's error lists the known ones and explains full names", () => {
  const error = new UnregisteredToolError("create_user", ["manage_users", "manage_users.create_user"]);
  expect(error.lookedUp).toBe("create_user");
  expect(error.message).toContain("The tool 'create_user' was not found.");
  expect(error.message).toContain("Registered: manage_users, manage_users.create_user.");
  expect(error.message).toContain("'parent.child'");
});

test.each([
  [new UnregisteredToolError("x", []), "The tool 'x' was not found. None is registered."],
  [new UnregisteredAgentError("x", []), "The agent 'x' was not found. None is registered."],
  [new UnregisteredHookError("x", []), "The hook 'x' was not found. None is registered."],
  [new MissingContextItemError("x", []), "The context pool has no item 'x'. The pool is empty."],
  [new MissingContextItemError("x", ["y"]), "The context pool has no item 'x'. It has: y."],
])("%s", (error, start) => {
  expect(error.message.startsWith(start)).toBe(true);
});
