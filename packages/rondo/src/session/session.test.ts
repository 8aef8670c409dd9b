// Entries become a conversation again.
import fc from "fast-check";
import { expect, test } from "vitest";
import type { RondoError } from "../error/rondo-error.ts";
import type { Message } from "../model/message.ts";
import { readSession } from "./session.ts";

const start = { type: "session", version: 1, id: "s", createdAt: "2026-01-02T03:04:05.000Z" };
const user = (content: string): Message => ({ role: "user", content });

test("messages follow each other, a rewind replaces the last ones, and infos are merged", () => {
  const { messages, info, createdAt } = readSession("s", [
    start,
    { type: "message", message: user("a") },
    { type: "info", info: { model: "m", n: 1 } },
    { type: "message", message: user("b") },
    { type: "rewind", to: 1, messages: [user("c"), user("d")] },
    { type: "info", info: { n: 2 } },
  ]);
  expect(messages).toEqual([user("a"), user("c"), user("d")]);
  expect(info).toEqual({ model: "m", n: 2 });
  expect(createdAt).toBe("2026-01-02T03:04:05.000Z");
});

test.each([
  ["nothing", []],
  ["no start", [{ type: "message", message: user("a") }]],
  ["a newer version", [{ ...start, version: 2 }]],
  ["an unknown entry", [start, { type: "dream" }]],
  ["a message without a role", [start, { type: "message", message: { content: "a" } }]],
  [
    "a call without a name",
    [start, { type: "message", message: { role: "assistant", content: "", tool_calls: [{}] } }],
  ],
  ["a rewind too far", [start, { type: "rewind", to: 1, messages: [] }]],
  ["a rewind to no messages", [start, { type: "rewind", to: 0, messages: [1] }]],
])("%s is refused", (_, entries) => {
  expect(() => readSession("s", entries)).toThrow(expect.objectContaining({ code: "invalid_session" }));
});

test("any JSON is read or refused, and nothing reaches a prototype", () => {
  fc.assert(
    fc.property(fc.array(fc.jsonValue()), (values) => {
      expect(outcomeOf(values)).toBeOneOf(["s", "invalid_session"]);
    }),
  );
  const { info } = readSession("s", [start, JSON.parse('{"type":"info","info":{"__proto__":{"x":1}}}')]);
  expect(Object.getPrototypeOf(info)).toBe(Object.prototype);
});

/** The id of the session, or the code of the error. */
function outcomeOf(values: readonly unknown[]): string {
  try {
    return readSession("s", [start, ...values]).id;
  } catch (error) {
    return (error as RondoError).code;
  }
}
